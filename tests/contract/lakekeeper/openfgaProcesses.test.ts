import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type OpenFga, startOpenFga } from "../../../emulators/openfga/server.ts";
import { freePort } from "../../../platforms/local/ports.ts";
import { type Client, clientOf, warehouseRequest } from "./client.ts";
import { defaultProject } from "./openfgaWorld.ts";
import { serveProcess, type ServeProcess } from "./serveProcess.ts";
import { eventually, schema } from "./tableWorld.ts";
import { startWorld, type World } from "./world.ts";

const key = "a preshared key";

let world: World;
let directory: string;
let openFga: OpenFga;
const servers = new Set<ServeProcess>();
beforeAll(async () => {
  process.env["RUST_LOG"] = "off";
  world = await startWorld();
  directory = await mkdtemp(join(tmpdir(), "openfga-"));
  openFga = await startOpenFga({ directory, keys: [key] });
});
afterEach(async () => {
  await Promise.all([...servers].map((server) => server.end("SIGKILL")));
  servers.clear();
});
afterAll(async () => {
  await openFga.close();
  await world.close();
  await rm(directory, { recursive: true, force: true });
});

type Settings = Record<string, string>;

/** Of a server on a new database and in a store of its own. */
async function settingsFor(name: string): Promise<Settings> {
  return {
    ...(await world.settings(name)),
    ...world.openId,
    LAKEKEEPER__AUTHZ_BACKEND: "OpenFGA",
    LAKEKEEPER__OPENFGA__ENDPOINT: openFga.url,
    LAKEKEEPER__OPENFGA__STORE_NAME: name,
    LAKEKEEPER__OPENFGA__API_KEY: key,
    LAKEKEEPER__HEALTH_CHECK_FREQUENCY_SECONDS: "1",
  };
}

async function run(
  command: string,
  settings: Settings,
  ...args: string[]
): Promise<{ code: number | null; complaint: string }> {
  const child = spawn(process.execPath, ["emulators/lakekeeper/main.ts", command, ...args], {
    env: { PATH: process.env["PATH"], LAKEKEEPER__BIND_IP: "127.0.0.1", ...settings },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let complaint = "";
  child.stderr.on("data", (chunk: Buffer) => (complaint += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, complaint };
}

async function serve(settings: Settings): Promise<ServeProcess> {
  const server = await serveProcess(settings);
  servers.add(server);
  await server.start();
  return server;
}

async function as(subject: string, { url }: { url: string }): Promise<Client> {
  const authorization = `Bearer ${await world.sign(subject)}`;
  const call = clientOf(url);
  return (method, path, body, headers = {}) => call(method, path, body, { authorization, ...headers });
}

async function storesNamed(name: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  const answer = await fetch(`${openFga.url}/stores?name=${name}`, { headers });
  return ((await answer.json()) as { stores: unknown[] }).stores.length;
}

const bootstrap = { "accept-terms-of-use": true };

describe("migrate and serve", () => {
  test("make the store once and take it as it is", async () => {
    const settings = await settingsFor("migrated");
    expect(await storesNamed("migrated")).toBe(0);
    for (let time = 0; time < 2; time++) expect(await run("migrate", settings)).toEqual({ code: 0, complaint: "" });
    expect(await storesNamed("migrated")).toBe(1);
    const server = await serve(settings);
    const { body } = await (await as("anybody", server))("GET", "/management/v1/info");
    expect(body).toMatchObject({ "authz-backend": "openfga", bootstrapped: false });
  });

  test("end with 1 when the key is wrong or missing, and do not tell it", async () => {
    const settings = await settingsFor("wrong_key");
    const wrong = { ...settings, LAKEKEEPER__OPENFGA__API_KEY: "some wrong key" };
    for (const command of ["migrate", "serve"]) {
      await run("migrate", settings);
      const { code, complaint } = await run(command, wrong);
      expect([code, complaint]).toEqual([1, expect.stringContaining("401, unauthenticated")]);
      expect(complaint).not.toContain("some wrong key");
    }
    const without = { ...settings };
    delete without["LAKEKEEPER__OPENFGA__API_KEY"];
    expect(await run("migrate", without)).toEqual({
      code: 1,
      complaint: expect.stringContaining("bearer_token_missing") as string,
    });
  });

  test("end with 1 when OpenFGA cannot be reached", async () => {
    const settings = await settingsFor("unreachable");
    await run("migrate", settings);
    const endpoint = `http://127.0.0.1:${await freePort()}`;
    for (const command of ["migrate", "serve"]) {
      const { code, complaint } = await run(command, { ...settings, LAKEKEEPER__OPENFGA__ENDPOINT: endpoint });
      expect([code, complaint]).toEqual([1, expect.stringContaining(`OpenFGA at ${endpoint}: connect ECONNREFUSED`)]);
    }
  });

  test("serve ends with 1 for a store that was not migrated", async () => {
    const settings = await settingsFor("elsewhere");
    await run("migrate", settings);
    const { code, complaint } = await run("serve", { ...settings, LAKEKEEPER__OPENFGA__STORE_NAME: "never_made" });
    expect([code, complaint]).toEqual([
      1,
      expect.stringContaining("OpenFGA Store not found: never_made. Make sure to run migration"),
    ]);
  });

  test.each([
    [{ LAKEKEEPER__OPENFGA__ENDPOINT: "nowhere" }, "OPENFGA__ENDPOINT has to be a URL"],
    [{ LAKEKEEPER__OPENFGA__CLIENT_ID: "x" }, "does not model OPENFGA__CLIENT_ID"],
    [{ LAKEKEEPER__OPENFGA__AUTHORIZATION_MODEL_VERSION: "v" }, "does not model OPENFGA__AUTHORIZATION_MODEL_VERSION"],
  ])("end with 101 for %j", async (more, message) => {
    const { code, complaint } = await run("migrate", {
      LAKEKEEPER__PG_DATABASE_URL_WRITE: "postgresql://x:y@127.0.0.1:1/z",
      LAKEKEEPER__AUTHZ_BACKEND: "openfga",
      LAKEKEEPER__OPENFGA__ENDPOINT: openFga.url,
      ...more,
    });
    expect([code, complaint]).toEqual([101, expect.stringContaining(message)]);
  });

  test("with another authorizer than openfga, OpenFGA is not asked for anything", async () => {
    const settings = { ...(await settingsFor("allowall")), LAKEKEEPER__AUTHZ_BACKEND: "allowall" };
    await run("migrate", settings);
    const call = await as("anybody", await serve(settings));
    expect((await call("GET", "/management/v1/info")).body).toMatchObject({ "authz-backend": "allow-all" });
    expect((await call("POST", "/management/v1/bootstrap", bootstrap)).status).toBe(204);
    expect((await call("POST", "/management/v1/warehouse", warehouseRequest(world, "open"))).status).toBe(201);
    expect((await call("GET", "/management/v1/permissions/server/assignments")).status).toBe(404);
    expect(await storesNamed("allowall")).toBe(0);
  });
});

describe("bootstrap", () => {
  test("is refused to the anonymous, who may do nothing afterwards either", async () => {
    const settings = await settingsFor("anonymous");
    for (const name of Object.keys(world.openId)) delete settings[name];
    await run("migrate", settings);
    const call = clientOf((await serve(settings)).url);
    const refused = await call("POST", "/management/v1/bootstrap", bootstrap);
    expect([refused.status, refused.type]).toEqual([401, "AnonymousBootstrap"]);
    expect((await call("GET", "/management/v1/info")).body).toMatchObject({ bootstrapped: false });
    const made = await call("POST", "/management/v1/warehouse", warehouseRequest(world, "none"));
    expect([made.status, made.type]).toEqual([403, "ProjectActionForbidden"]);
    const granted = await call("POST", "/management/v1/permissions/server/assignments", {});
    expect([granted.status, granted.type]).toEqual([401, "AuthenticationRequired"]);
  });

  test.each([
    [true, { type: "operator", user: "oidc~first" }],
    [false, { type: "admin", user: "oidc~first" }],
  ])("with is-operator %s", async (isOperator, assignment) => {
    const settings = await settingsFor(`operator_${isOperator}`);
    await run("migrate", settings);
    const server = await serve(settings);
    const first = await as("first", server);
    const done = await first("POST", "/management/v1/bootstrap", { ...bootstrap, "is-operator": isOperator });
    expect(done.status).toBe(204);
    const again = await (await as("late", server))("POST", "/management/v1/bootstrap", bootstrap);
    expect([again.status, again.type]).toEqual([400, "CatalogAlreadyBootstrapped"]);
    const held = async (path: string): Promise<unknown> =>
      (await first("GET", `/management/v1/permissions/${path}/assignments`)).body;
    expect(await held("server")).toEqual({ assignments: [assignment] });
    expect(await held("project")).toEqual({
      assignments: [{ type: "project_admin", user: "oidc~first" }],
      "project-id": defaultProject,
    });
    expect((await first("POST", "/management/v1/warehouse", warehouseRequest(world, `of-${isOperator}`))).status).toBe(
      201,
    );
  });

  test("reopened, makes a second one operator beside the first", async () => {
    const settings = await settingsFor("reopened");
    await run("migrate", settings);
    const server = await serve(settings);
    const [first, second] = [await as("first", server), await as("second", server)];
    const operator = { ...bootstrap, "is-operator": true };
    await first("POST", "/management/v1/bootstrap", operator);
    for (const call of [second, first]) {
      expect((await run("reopen-bootstrap", settings, "--yes")).code).toBe(0);
      expect((await call("POST", "/management/v1/bootstrap", operator)).status).toBe(204);
    }
    const { body } = await second("GET", "/management/v1/permissions/server/assignments");
    expect(body).toEqual({
      assignments: [
        { type: "operator", user: "oidc~first" },
        { type: "operator", user: "oidc~second" },
      ],
    });
  });

  test("of a second catalog in a store that has the default project of a first one is a conflict", async () => {
    const settings = await settingsFor("first_catalog");
    const second = { ...(await settingsFor("second_catalog")), LAKEKEEPER__OPENFGA__STORE_NAME: "first_catalog" };
    const outcomes: unknown[] = [];
    for (const each of [settings, second]) {
      await run("migrate", each);
      const { status, type } = await (
        await as("first", await serve(each))
      )("POST", "/management/v1/bootstrap", bootstrap);
      outcomes.push([status, type]);
    }
    expect(outcomes).toEqual([
      [204, undefined],
      [409, "ObjectHasRelations"],
    ]);
  });
});

test("two processes and those after them know the same permissions, and OpenFGA has them all", async () => {
  const settings = await settingsFor("shared");
  await run("migrate", settings);
  let [one, other] = [await serve(settings), await serve(settings)];
  const operator = await as("operator", one);
  await operator("POST", "/management/v1/bootstrap", { ...bootstrap, "is-operator": true });
  const { body } = await operator("POST", "/management/v1/warehouse", warehouseRequest(world, "shared"));
  const { id } = body as { id: string };
  await operator("POST", `/catalog/v1/${id}/namespaces`, { namespace: ["ns"] });
  await operator("POST", `/catalog/v1/${id}/namespaces/ns/tables`, { name: "t", schema });
  const load = async (server: ServeProcess): Promise<number> =>
    (await (await as("reader", server))("GET", `/catalog/v1/${id}/namespaces/ns/tables/t`)).status;
  expect([await load(one), await load(other)]).toEqual([404, 404]);
  const writes = [{ type: "select", user: "oidc~reader" }];
  await (
    await as("operator", other)
  )("POST", `/management/v1/permissions/warehouse/${id}/assignments`, { writes });
  expect([await load(one), await load(other)]).toEqual([200, 200]);

  await Promise.all([one, other].map((server) => server.end("SIGKILL")));
  const { port } = openFga;
  await openFga.close();
  openFga = await startOpenFga({ directory, port, keys: [key] });
  [one, other] = [await serve(settings), await serve(settings)];
  expect([await load(one), await load(other)]).toEqual([200, 200]);
});

test("while OpenFGA is gone nothing is allowed and nothing is made; once it is back all is as before", async () => {
  const settings = await settingsFor("gone");
  await run("migrate", settings);
  const server = await serve(settings);
  const call = await as("operator", server);
  await call("POST", "/management/v1/bootstrap", { ...bootstrap, "is-operator": true });
  const { body } = await call("POST", "/management/v1/warehouse", warehouseRequest(world, "gone"));
  const namespaces = `/catalog/v1/${(body as { id: string }).id}/namespaces`;
  const health = async (): Promise<number> => (await fetch(`${server.url}/health`)).status;
  expect(await (await fetch(`${server.url}/health`)).json()).toMatchObject({
    services: { auth: [{ name: "openfga", status: "ok" }] },
  });

  const { port } = openFga;
  await openFga.close();
  for (const refused of [
    await call("GET", namespaces),
    await call("POST", namespaces, { namespace: ["lost"] }),
    await call("GET", "/management/v1/permissions/server/assignments"),
  ])
    expect([refused.status, refused.type]).toEqual([503, "AuthorizationBackendError"]);
  await eventually(async () => (await health()) === 503);

  openFga = await startOpenFga({ directory, port, keys: [key] });
  await eventually(async () => (await health()) === 200);
  expect((await call("GET", namespaces)).body).toMatchObject({ namespaces: [] });
  expect((await call("POST", namespaces, { namespace: ["lost"] })).status).toBe(200);
});
