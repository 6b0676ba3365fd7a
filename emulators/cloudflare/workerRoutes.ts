import { isoSeconds, RawAnswer, readObject, type ApiCall, type Route } from "./call.ts";
import { CloudflareError } from "./errors.ts";
import { NoHandlers, type Script } from "./workers.ts";

const read = ["Workers Scripts Read", "Workers Scripts Write"] as const;
const write = ["Workers Scripts Write"] as const;
const workers = "/accounts/:account/workers";
const script = `${workers}/scripts/:script`;

export const workerRoutes: readonly Route[] = [
  {
    name: "GetWorkersSubdomain",
    method: "GET",
    path: `${workers}/subdomain`,
    permissions: read,
    handle: ({ account }) => ({ subdomain: account.workers.subdomain }),
  },
  { name: "UploadWorker", method: "PUT", path: script, permissions: write, handle: upload },
  { name: "DeleteWorker", method: "DELETE", path: script, permissions: write, handle: deleteScript },
  { name: "GetWorkerSettings", method: "GET", path: `${script}/settings`, permissions: read, handle: getSettings },
  { name: "GetWorkerContent", method: "GET", path: `${script}/content/v2`, permissions: read, handle: getContent },
  {
    name: "GetWorkerService",
    method: "GET",
    path: `${workers}/services/:script`,
    permissions: read,
    handle: getService,
  },
  {
    name: "GetWorkerSubdomain",
    method: "GET",
    path: `${script}/subdomain`,
    permissions: read,
    handle: (call) => showSubdomain(requireScript(call)),
  },
  {
    name: "PutWorkerSubdomain",
    method: "POST",
    path: `${script}/subdomain`,
    permissions: write,
    handle: putSubdomain,
  },
  {
    name: "DeleteWorkerSubdomain",
    method: "DELETE",
    path: `${script}/subdomain`,
    permissions: write,
    handle: (call) => setSubdomain(call, false, false),
  },
];

async function upload(call: ApiCall): Promise<object> {
  const { account, parameters, now } = call;
  // Only an upload needs what this loads: 5 MB of memory that a local stack can do without.
  const { readUpload } = await import("./workerUpload.ts");
  const sent = await readUpload(call);
  const name = parameters["script"] ?? "";
  if (!/^[a-z0-9_][a-z0-9_-]{0,62}$/.test(name))
    throw new CloudflareError(
      400,
      10016,
      "Invalid script name. Use lowercase letters, digits, underscores and dashes.",
    );
  const uploaded = await account.workers.upload({ name, ...sent }, now).catch((error: unknown) => {
    if (error instanceof NoHandlers) throw new CloudflareError(400, 10068, error.message);
    throw new CloudflareError(400, 10021, `Uncaught ${(error as Error).message}`);
  });
  return {
    ...show(uploaded),
    startup_time_ms: 3,
    placement: {},
    tail_consumers: null,
    named_handlers: [],
    deployment_id: uploaded.etag.slice(0, 32),
    entry_point: uploaded.module,
  };
}

async function deleteScript(call: ApiCall): Promise<null> {
  await call.account.workers.delete(requireScript(call).name);
  return null;
}

function getSettings(call: ApiCall): object {
  const { metadata } = requireScript(call);
  return {
    bindings: (metadata.bindings ?? []).map((each) =>
      each.type === "secret_text" ? { name: each.name, type: each.type } : each,
    ),
    compatibility_date: metadata.compatibility_date ?? "",
    compatibility_flags: metadata.compatibility_flags ?? [],
    usage_model: metadata.usage_model ?? "standard",
    tags: [],
    tail_consumers: null,
    logpush: metadata.logpush ?? false,
    placement: {},
    observability: metadata.observability ?? { enabled: false },
  };
}

function getContent(call: ApiCall): RawAnswer {
  const { module, content, etag } = requireScript(call);
  const boundary = etag.slice(0, 60);
  const head = [
    `--${boundary}`,
    `Content-Disposition: form-data; name="${module}"; filename="${module}"`,
    "Content-Type: application/javascript+module",
  ];
  const body = [...head, "", content, `--${boundary}--`, ""].join("\r\n");
  return new RawAnswer(`multipart/form-data; boundary=${boundary}`, body);
}

function getService(call: ApiCall): object {
  const found = call.account.workers.find(call.parameters["script"] ?? "");
  if (found === undefined) throw new CloudflareError(404, 10090, "This Worker does not exist on your account.");
  const times = { created_on: isoSeconds(found.created), modified_on: isoSeconds(found.modified) };
  const environment = { environment: "production", ...times, script: show(found) };
  return { id: found.name, default_environment: environment, ...times };
}

function putSubdomain(call: ApiCall): object {
  const { enabled, previews_enabled: previews = enabled } = readObject(call, ["enabled", "previews_enabled"]);
  if (typeof enabled !== "boolean" || typeof previews !== "boolean")
    throw new CloudflareError(400, 10026, "enabled must be a boolean");
  return setSubdomain(call, enabled, previews);
}

function setSubdomain(call: ApiCall, enabled: boolean, previewsEnabled: boolean): object {
  const changed = { ...requireScript(call), enabled, previewsEnabled };
  call.account.workers.save(changed);
  return showSubdomain(changed);
}

function showSubdomain({ enabled, previewsEnabled }: Script): object {
  return { enabled, previews_enabled: previewsEnabled };
}

function requireScript({ account, parameters }: ApiCall): Script {
  const found = account.workers.find(parameters["script"] ?? "");
  if (found === undefined) throw new CloudflareError(404, 10007, "This Worker does not exist on your account.");
  return found;
}

function show({ name, etag, handlers, created, modified, metadata }: Script): object {
  return {
    id: name,
    etag,
    handlers,
    created_on: isoSeconds(created),
    modified_on: isoSeconds(modified),
    usage_model: metadata.usage_model ?? "standard",
    last_deployed_from: "terraform",
    compatibility_date: metadata.compatibility_date ?? "",
    has_assets: false,
    has_modules: true,
    logpush: metadata.logpush ?? false,
  };
}
