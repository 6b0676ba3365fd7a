import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startLakekeeper } from "../../../emulators/lakekeeper/server.ts";
import { clientOf } from "../lakekeeper/client.ts";
import { inDefault, startTableWorld, type TableWorld } from "../lakekeeper/tableWorld.ts";

let tables: TableWorld;
beforeAll(async () => {
  tables = await startTableWorld();
});
afterAll(() => tables.close());

function withFaults(...rules: string[]) {
  return tables.start({ LAKEKEEPER_STANDIN__FAULT: rules.join("\n") });
}

const change = { requirements: [], updates: [{ action: "set-properties", updates: { changed: "yes" } }] };

/** What happened to a commit, and whether the table shows it. */
async function commitThrough(rule: string, name: string): Promise<{ outcome: unknown; changed: boolean }> {
  await tables.create(name);
  const path = `${tables.catalog}/${inDefault}/tables/${name}`;
  const call = await withFaults(`POST */tables/${name}, ${rule}`);
  const outcome = await call("POST", path, change).then(
    ({ status, type }) => [status, type],
    () => "reset",
  );
  const { body } = await tables.call("GET", path);
  const { metadata } = body as { metadata: { properties?: Record<string, string> } };
  return { outcome, changed: metadata.properties?.["changed"] === "yes" };
}

describe("a commit that meets a fault", () => {
  test.each([
    ["status 503", [503, "SlowDownException"], false],
    ["after, status 503", [503, "SlowDownException"], true],
    ["status 409", [409, "CatalogCommitConflicts"], false],
    ["after, status 500", [500, "CatalogBackendError"], true],
    ["reset", "reset", false],
    ["after, reset", "reset", true],
    ["after, delay 20", [200, undefined], true],
  ])("%s", async (rule, outcome, changed) => {
    expect(await commitThrough(rule, rule.replace(/\W+/g, "_"))).toEqual({ outcome, changed });
  });
});

test("its answer is an error of Iceberg's model, marked as a fault, and only the requests of the rule get it", async () => {
  const rule = "GET /catalog/v1/config, status 503, first 1";
  const call = await withFaults(rule);
  const { status, headers, body } = await call("GET", "/catalog/v1/config?warehouse=wh");
  expect([status, headers.get("content-type"), headers.get("x-stand-in-fault")]).toEqual([
    503,
    "application/json",
    rule,
  ]);
  expect(body).toEqual({
    error: {
      message: "The stand-in was told to fail.",
      type: "SlowDownException",
      code: 503,
      stack: [expect.stringMatching(/^Error ID: /)],
    },
  });
  const second = await call("GET", "/catalog/v1/config?warehouse=wh");
  expect([second.status, second.headers.get("x-stand-in-fault")]).toEqual([200, null]);
});

test("the request log has a line for each request, the fault that struck it, and no token", async () => {
  const directory = await mkdtemp(join(tmpdir(), "lakekeeper-log-"));
  const log = join(directory, "requests.log");
  const server = await startLakekeeper({
    ...(await tables.world.settings("logged")),
    ...tables.world.openId,
    LAKEKEEPER_STANDIN__LOG: log,
    LAKEKEEPER_STANDIN__FAULT: "GET /management/v1/user, status 429\nHEAD *, reset",
  });
  const call = clientOf(server.url);
  const token = await tables.world.sign("deployer");
  const headers = { authorization: `Bearer ${token}` };
  await call("GET", "/management/v1/info?a=b", undefined, headers);
  await call("GET", "/management/v1/info");
  await call("GET", "/management/v1/user", undefined, headers);
  await expect(call("HEAD", "/management/v1/info")).rejects.toThrow("fetch failed");
  await server.close();
  const written = await readFile(log, "utf8");
  await rm(directory, { recursive: true });
  const lines = written.trim().split("\n");
  expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
    expect.objectContaining({ method: "GET", path: "/management/v1/info", query: "a=b", status: 200 }),
    expect.objectContaining({ status: 401 }),
    expect.objectContaining({ path: "/management/v1/user", status: 429, fault: "GET /management/v1/user, status 429" }),
    expect.objectContaining({ method: "HEAD", fault: "HEAD *, reset" }),
  ]);
  expect(lines[3]).not.toContain('status"');
  expect(written).not.toContain(token);
});

test.each([
  ["LAKEKEEPER_STANDIN__FAULT", "GET /x, nonsense", 'The fault "GET /x, nonsense" is wrong at "nonsense"'],
  ["LAKEKEEPER_STANDIN__LOG", "/nowhere/requests.log", "Cannot write the request log /nowhere/requests.log"],
])("a wrong %s keeps the process from serving, and is named", async (name, value, message) => {
  const settings = { ...(await tables.world.settings("wrong")), LAKEKEEPER__DEBUG__MIGRATE_BEFORE_SERVE: "true" };
  const child = spawn(process.execPath, ["emulators/lakekeeper/main.ts", "serve"], {
    env: { PATH: process.env["PATH"], ...settings, [name]: value },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let complaint = "";
  child.stderr.on("data", (chunk: Buffer) => (complaint += chunk.toString()));
  expect(await once(child, "close")).toEqual([1, null]);
  expect(complaint).toContain(`Error: ${message}`);
});
