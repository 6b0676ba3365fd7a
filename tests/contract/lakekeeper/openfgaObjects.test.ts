import { randomUUID } from "node:crypto";
import { stringifyJson } from "../../../emulators/lakekeeper/http/json.ts";
import { bucketOf, type Client, foreignMetadata, type Reply } from "./client.ts";
import { created, type OpenFgaWorld, startOpenFgaWorld, type Warehouse } from "./openfgaWorld.ts";
import { eventually, schema } from "./tableWorld.ts";

let fga: OpenFgaWorld;
let wh: Warehouse;
beforeAll(async () => {
  fga = await startOpenFgaWorld();
  wh = await fga.makeWarehouse("wh");
});
afterAll(() => fga.close());

const permissions = "/management/v1/permissions";
const said = ({ status, type }: Reply): string => `${status} ${type ?? ""}`.trim();
const assignments = (path: string): string => `${permissions}/${path}/assignments`;

test("what is dropped leaves no permissions behind", async () => {
  const place = await fga.makeWarehouse("dropped");
  const ns = `${place.path}/namespaces`;
  await fga.operator("POST", `${ns}/ns/views`, view("v"));
  await fga.operator("DELETE", `${ns}/ns/tables/t?purgeRequested=false`);
  expect(said(await fga.operator("GET", assignments(`warehouse/${place.id}/table/${place.table}`)))).toBe(
    "403 ActionForbidden",
  );
  expect(said(await fga.operator("DELETE", `${ns}/ns?recursive=true`))).toBe("204");
  expect(said(await fga.operator("GET", assignments(`namespace/${place.namespace}`)))).toBe("403 ActionForbidden");
  expect(said(await fga.operator("DELETE", `/management/v1/warehouse/${place.id}`))).toBe("204");
  expect(said(await fga.operator("GET", assignments(`warehouse/${place.id}`)))).toBe("403 ActionForbidden");
});

test("what is dropped softly keeps its permissions until it expires", async () => {
  const place = await fga.makeWarehouse("softly");
  const soften = (seconds: number) =>
    fga.operator("POST", `/management/v1/warehouse/${place.id}/delete-profile`, {
      "delete-profile": { type: "soft", "expiration-seconds": seconds },
    });
  const drop = () => fga.operator("DELETE", `${place.path}/namespaces/ns/tables/t?purgeRequested=false`);
  const held = async (): Promise<string> =>
    said(await fga.operator("GET", assignments(`warehouse/${place.id}/table/${place.table}`)));
  await soften(3600);
  await drop();
  expect(await held()).toBe("200");

  const deleted = `/management/v1/warehouse/${place.id}/deleted-tabulars`;
  await fga.assign(`namespace/${place.namespace}`, "saver", "modify");
  await fga.assign(`warehouse/${place.id}/table/${place.table}`, "watcher", "describe");
  await fga.operator("POST", `${place.path}/namespaces`, { namespace: ["beside"] });
  const { body } = await fga.operator("GET", `${place.path}/namespaces/beside`);
  const beside = (body as { properties: { namespace_id: string } }).properties.namespace_id;
  await fga.assign(`namespace/${beside}`, "neighbour", "ownership");
  const targets = { targets: [{ id: place.table, type: "table" }] };
  const attempt = async (subject: string): Promise<[number, string]> => {
    const call = await fga.as(subject);
    const { body } = await call("GET", deleted);
    return [(body as { tabulars: unknown[] }).tabulars.length, said(await call("POST", `${deleted}/undrop`, targets))];
  };
  expect(await attempt("neighbour")).toEqual([0, "404 NoSuchTableException"]);
  expect(await attempt("watcher")).toEqual([1, "403 TableActionForbidden"]);
  expect(await attempt("saver")).toEqual([1, "204"]);

  await soften(0);
  await drop();
  await eventually(async () => (await held()) === "403 ActionForbidden");
});

test("a table that was moved keeps the permissions of where it came from, as in Lakekeeper 0.13.3", async () => {
  const place = await fga.makeWarehouse("moved");
  const ns = `${place.path}/namespaces`;
  await fga.operator("POST", ns, { namespace: ["target"] });
  await fga.assign(`namespace/${place.namespace}`, "source-reader", "select");
  const call = await fga.as("source-reader");
  const move = { source: { namespace: ["ns"], name: "t" }, destination: { namespace: ["target"], name: "t" } };
  expect(said(await call("POST", `${place.path}/tables/rename`, move))).toBe("404 NoSuchNamespaceException");
  expect(said(await fga.operator("POST", `${place.path}/tables/rename`, move))).toBe("204");
  expect(said(await call("GET", `${ns}/target/tables/t`))).toBe("200");
});

function view(name: string): never {
  return {
    name,
    schema,
    "view-version": {
      "version-id": 1,
      "timestamp-ms": 1,
      "schema-id": 0,
      summary: {},
      representations: [{ type: "sql", sql: "SELECT 1", dialect: "spark" }],
      "default-namespace": ["ns"],
    },
  } as never;
}

test("views: select sees, create makes, modify changes", async () => {
  const place = await fga.makeWarehouse("viewed");
  const views = `${place.path}/namespaces/ns/views`;
  await fga.operator("POST", views, view("v"));
  const change = { requirements: [], updates: [{ action: "set-properties", updates: { a: "b" } }] };
  for (const relation of ["describe", "create", "modify"])
    await fga.assign(`warehouse/${place.id}`, `view-${relation}`, relation);
  const outcomes = async (subject: string): Promise<string[]> => {
    const call = await fga.as(subject);
    return [
      said(await call("GET", `${views}/v`)),
      said(await call("POST", `${views}/v`, change)),
      said(await call("POST", views, view(`of-${subject}`))),
    ];
  };
  const [noCommit, noMaking] = ["403 ViewActionForbidden", "403 NamespaceActionForbidden"];
  expect(await outcomes("nobody")).toEqual([
    "404 NoSuchViewException",
    "404 NoSuchViewException",
    "404 NoSuchNamespaceException",
  ]);
  expect(await outcomes("view-describe")).toEqual(["200", noCommit, noMaking]);
  expect(await outcomes("view-create")).toEqual(["200", noCommit, "200"]);
  expect(await outcomes("view-modify")).toEqual(["200", "200", noMaking]);
});

test("users: everybody has oneself, the server's staff all of them", async () => {
  const call = await fga.as("self");
  expect(said(await call("POST", "/management/v1/user", {}))).toBe("201");
  expect(said(await call("GET", "/management/v1/whoami"))).toBe("200");
  expect(said(await call("GET", "/management/v1/user"))).toBe("403 ServerActionForbidden");
  const another = { id: "oidc~another", name: "another", "user-type": "application" };
  expect(said(await call("POST", "/management/v1/user", another))).toBe("403 ServerActionForbidden");
  expect(said(await fga.operator("POST", "/management/v1/user", another))).toBe("201");
  expect(said(await call("DELETE", "/management/v1/user/oidc~another"))).toBe("403 ServerActionForbidden");
  await fga.assign(`warehouse/${wh.id}`, "another", "select");
  expect(said(await fga.operator("DELETE", "/management/v1/user/oidc~another"))).toBe("204");
  const { body } = await fga.operator("GET", assignments(`warehouse/${wh.id}`));
  expect(JSON.stringify(body)).not.toContain("oidc~another");
  expect(said(await call("DELETE", "/management/v1/user/oidc~self"))).toBe("204");
});

test("projects: who makes one administers it, and others do not even list it", async () => {
  const call = await fga.as("nobody");
  const project = { "project-name": "mine" };
  expect(said(await call("POST", "/management/v1/project", project))).toBe("403 ServerActionForbidden");
  await fga.assign("server", "founder", "admin");
  const founder = await fga.as("founder");
  const { "project-id": id = "" } = created(await founder("POST", "/management/v1/project", project));
  const at = { "x-project-id": id };
  expect(said(await founder("POST", "/management/v1/project/rename", { "new-name": "ours" }, at))).toBe("200");
  expect(said(await call("POST", "/management/v1/project/rename", { "new-name": "x" }, at))).toBe(
    "403 ProjectActionForbidden",
  );
  expect(said(await call("GET", "/management/v1/project", undefined, at))).toBe("403 ProjectActionForbidden");
  expect(said(await call("DELETE", "/management/v1/project", undefined, at))).toBe("403 ProjectActionForbidden");
  expect((await founder("GET", assignments("project"), undefined, at)).body).toEqual({
    assignments: [{ type: "project_admin", user: "oidc~founder" }],
    "project-id": id,
  });
  expect(said(await founder("DELETE", "/management/v1/project", undefined, at))).toBe("204");
});

test("a staged table is made by who may create, and is the maker's own", async () => {
  const place = await fga.makeWarehouse("staged");
  const tables = `${place.path}/namespaces/ns/tables`;
  await fga.assign(`warehouse/${place.id}`, "stager", "create");
  await fga.assign(`warehouse/${place.id}`, "changer", "modify");
  const { body } = await fga.operator("POST", tables, { name: "model", schema });
  const { metadata } = body as { metadata: Record<string, never> };
  const commit = (call: Client, name: string): Promise<Reply> =>
    call("POST", `${tables}/${name}`, {
      requirements: [{ type: "assert-create" }],
      updates: [
        { action: "assign-uuid", uuid: randomUUID() },
        { action: "set-location", location: `s3://lakehouse/staged/${name}` },
        { action: "upgrade-format-version", "format-version": 2 },
        { action: "add-schema", schema },
        { action: "set-current-schema", "schema-id": -1 },
        { action: "add-spec", spec: metadata["partition-specs"]![0] },
        { action: "set-default-spec", "spec-id": -1 },
        { action: "add-sort-order", "sort-order": metadata["sort-orders"]![0] },
        { action: "set-default-sort-order", "sort-order-id": -1 },
      ],
    });
  const [stager, changer] = [await fga.as("stager"), await fga.as("changer")];
  expect(said(await commit(await fga.as("nobody"), "s"))).toBe("404 NoSuchNamespaceException");
  expect(said(await commit(changer, "s"))).toBe("403 NamespaceActionForbidden");
  expect(said(await stager("POST", tables, { name: "s", schema, "stage-create": true }))).toBe("200");
  expect(said(await commit(stager, "s"))).toBe("200");
  expect(said(await stager("DELETE", `${tables}/s`))).toBe("204");
  expect(said(await stager("DELETE", `${tables}/t`))).toBe("403 TableActionForbidden");
});

test("to register a table over another one takes the right to drop that one, too", async () => {
  const place = await fga.makeWarehouse("registered");
  const namespace = `${place.path}/namespaces/ns`;
  await fga.assign(`warehouse/${place.id}`, "creator", "create");
  await fga.assign(`warehouse/${place.id}`, "replacer", "create", "modify");
  const register = async (subject: string, name: string): Promise<string> => {
    const location = `s3://lakehouse/registered/${randomUUID()}`;
    const file = `${location}/metadata/00000-a.metadata.json`;
    await bucketOf(fga.world).write(file, Buffer.from(stringifyJson(foreignMetadata(randomUUID(), location))));
    const body = { name, "metadata-location": file, overwrite: true };
    return said(await (await fga.as(subject))("POST", `${namespace}/register`, body));
  };
  expect(await register("creator", "r")).toBe("200");
  expect(said(await (await fga.as("creator"))("DELETE", `${namespace}/tables/r`))).toBe("204");
  expect(await register("creator", "t")).toBe("403 TableActionForbidden");
  expect(await register("replacer", "t")).toBe("200");
  expect(said(await fga.operator("GET", assignments(`warehouse/${place.id}/table/${place.table}`)))).toBe(
    "403 ActionForbidden",
  );
});
