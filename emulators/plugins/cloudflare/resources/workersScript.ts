import { randomBytes } from "node:crypto";
import type { input } from "@pulumi/cloudflare/types/index.js";
import type { WorkersScriptArgs } from "@pulumi/cloudflare/workersScript.js";
import type { Properties } from "../../protocol.ts";
import { resultOf, type Answer, type Call } from "../api.ts";
import { toJson } from "../goText.ts";
import { importId } from "../importId.ts";
import type { Resource } from "../resource.ts";
import { fromWire, toWire, type Property, type Schema } from "../schema.ts";
import { binding } from "./workersScriptBinding.ts";

const observability = {
  enabled: { type: "boolean", required: true },
  headSamplingRate: { type: "number" },
  issues: { type: "unsupported" },
  logs: { type: "unsupported" },
  traces: { type: "unsupported" },
} satisfies Record<keyof input.WorkersScriptObservability, Property>;

/** Sent in the part `metadata`. */
const metadata = {
  bindings: { type: { list: { object: binding } }, computed: true },
  compatibilityDate: { type: "string", computed: true },
  compatibilityFlags: { type: { list: "string" }, computed: true },
  logpush: { type: "boolean", default: false },
  observability: { type: { object: observability } },
  usageModel: { type: "string", default: "standard", oneOf: ["standard", "bundled", "unbound"] },
} as const satisfies Schema;

const inputs = {
  ...metadata,
  accountId: { type: "string", required: true, replaces: true },
  scriptName: { type: "string", required: true, replaces: true },
  content: { type: "string" },
  mainModule: { type: "string" },
  bodyPart: { type: "string" },
  annotations: { type: "unsupported" },
  assets: { type: "unsupported" },
  cacheOptions: { type: "unsupported" },
  contentFile: { type: "unsupported" },
  contentSha256: { type: "unsupported" },
  contentType: { type: "unsupported" },
  exports: { type: "unsupported" },
  files: { type: "unsupported" },
  force: { type: "unsupported" },
  keepAssets: { type: "unsupported" },
  keepBindings: { type: "unsupported" },
  limits: { type: "unsupported" },
  migrations: { type: "unsupported" },
  packageDependencies: { type: "unsupported" },
  placement: { type: "unsupported" },
  tailConsumers: { type: "unsupported" },
} as const satisfies Record<keyof WorkersScriptArgs, Property>;

/** Out of what is said of a script by the answer to an upload, and by the service that it is part of. */
const script: Schema = {
  createdOn: { type: "string" },
  etag: { type: "string" },
  handlers: { type: { list: "string" } },
  hasAssets: { type: "boolean" },
  hasModules: { type: "boolean" },
  id: { type: "string" },
  lastDeployedFrom: { type: "string" },
  logpush: { type: "boolean" },
  migrationTag: { type: "string" },
  modifiedOn: { type: "string" },
  placementMode: { type: "string" },
  placementStatus: { type: "string" },
  usageModel: { type: "string" },
};

/** Only in the answer to an upload. */
const uploaded: Schema = {
  ...script,
  compatibilityDate: { type: "string" },
  namedHandlers: { type: { list: { object: { name: { type: "string" }, handlers: { type: { list: "string" } } } } } },
  placement: { type: { object: { mode: { type: "string" } } } },
  startupTimeMs: { type: "number" },
};

const unsettled = [
  ...["annotations", "bindings", "compatibilityFlags", "etag", "handlers", "hasAssets", "hasModules"],
  ...["lastDeployedFrom", "migrationTag", "modifiedOn", "namedHandlers", "placement", "placementMode"],
  ...["placementStatus", "startupTimeMs", "tailConsumers"],
];

export const workersScript: Resource = {
  inputs,
  schemaVersion: "500",
  made: Object.keys(uploaded),
  unsettled: () => unsettled,
  async create(api, plan) {
    const outputs = outputsOf(await api.call(upload(plan)), plan);
    return { id: String(plan["scriptName"]), outputs };
  },
  async read(api, state) {
    const account = `accounts/${String(state["accountId"])}/workers`;
    const name = String(state["scriptName"]);
    const service = await api.find({ method: "GET", path: `${account}/services/${name}` });
    if (service === undefined) return undefined;
    const settings = await api.call({ method: "GET", path: `${account}/scripts/${name}/settings` });
    const content = await api.call({ method: "GET", path: `${account}/scripts/${name}/content/v2` });
    const { default_environment: environment } = resultOf(service) as { default_environment: { script: Properties } };
    const { bindings = [], ...settled } = fromWire(metadata, resultOf(settings) as Properties);
    const { accountId, scriptName, startupTimeMs, mainModule, bodyPart } = state;
    const outputs = {
      ...{ accountId, scriptName, startupTimeMs, mainModule, bodyPart },
      ...contentOf(content, mainModule === undefined && bodyPart === undefined),
      ...fromWire(script, environment.script),
      ...settled,
      bindings: withTexts(bindings as Properties[], (state["bindings"] ?? []) as Properties[]),
    };
    return { id: name, outputs };
  },
  imported(id) {
    const [accountId, scriptName] = importId("<account_id>/<script_name>", id);
    return { accountId, scriptName };
  },
  async update(api, plan) {
    return outputsOf(await api.call(upload(plan)), plan);
  },
  async delete(api, state) {
    await api.call({ method: "DELETE", path: pathOf(state) });
  },
};

function pathOf({ accountId, scriptName }: Properties): string {
  return `accounts/${String(accountId)}/workers/scripts/${String(scriptName)}`;
}

function upload(plan: Properties): Call {
  const { mainModule, content } = plan as { mainModule?: string; content?: string };
  const isModule = mainModule !== undefined;
  const part = mainModule ?? "script";
  const described = {
    compatibility_date: "",
    ...toWire(metadata, plan),
    ...(isModule ? { main_module: part } : { body_part: part }),
  };
  const boundary = randomBytes(30).toString("hex");
  const type = isModule ? "application/javascript+module" : "application/javascript";
  const text = [
    `--${boundary}`,
    `Content-Disposition: form-data; name="${part}"; filename="${part}"`,
    `Content-Type: ${type}`,
    "",
    content ?? "",
    `--${boundary}`,
    'Content-Disposition: form-data; name="metadata"',
    "Content-Type: application/json",
    "",
    toJson(described),
    `--${boundary}--`,
    "",
  ].join("\r\n");
  return { method: "PUT", path: pathOf(plan), multipart: { boundary, text } };
}

function outputsOf(answer: Answer, plan: Properties): Properties {
  return { ...plan, ...fromWire(uploaded, resultOf(answer) as Properties) };
}

/** The script as it is stored: in a multipart body or as the whole of it. */
function contentOf({ contentType, text }: Answer, isImported: boolean): Properties {
  const [, boundary] = /boundary="?([^";]+)/.exec(contentType) ?? [];
  if (boundary === undefined) return { content: text };
  const start = text.indexOf("\r\n\r\n") + 4;
  const [head, content] = [text.slice(0, start), text.slice(start, text.indexOf(`\r\n--${boundary}`, start))];
  const [, part] = /name="([^"]*)"/.exec(head) ?? [];
  return { content, ...(isImported && head.includes("+module") && { mainModule: part }) };
}

/** The API never gives the text of a secret: it is the one that was sent. */
function withTexts(bindings: Properties[], sent: Properties[]): Properties[] {
  return bindings.map((each) => {
    const text = each["text"] ?? sent.find(({ name }) => name === each["name"])?.["text"];
    return text === undefined ? each : { ...each, text };
  });
}
