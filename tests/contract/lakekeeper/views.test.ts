import { randomUUID } from "node:crypto";
import type { Json, JsonObject } from "../../../emulators/lakekeeper/http/json.ts";
import { bucketOf, type Reply } from "./client.ts";
import { inDefault, schema, startTableWorld, type TableWorld } from "./tableWorld.ts";

let tables: TableWorld;
let views: string;
beforeAll(async () => {
  tables = await startTableWorld();
  views = `${tables.catalog}/${inDefault}/views`;
});
afterAll(() => tables.close());

const version = (sql: string, more: JsonObject = {}): JsonObject => ({
  "version-id": 1,
  "schema-id": 0,
  "timestamp-ms": 0,
  summary: {},
  representations: [{ type: "sql", sql, dialect: "spark" }],
  "default-namespace": ["main", "default"],
  ...more,
});

async function create(name: string): Promise<JsonObject> {
  const reply = await tables.call("POST", views, { name, schema, "view-version": version("SELECT 1") });
  expect(reply.status).toBe(200);
  return metadataOf(reply);
}

function metadataOf({ body }: Reply): JsonObject {
  return (body as { metadata: JsonObject }).metadata;
}

function replace(name: string, updates: Json[], requirements: Json[] = []): Promise<Reply> {
  return tables.call("POST", `${views}/${name}`, { requirements, updates });
}

const toLast = { action: "set-current-view-version", "view-version-id": -1 };
const add = (sql: string, more: JsonObject = {}): JsonObject => ({
  action: "add-view-version",
  "view-version": version(sql, more),
});

test("a view that is replaced has both versions, a log of them, and a further metadata file", async () => {
  const before = await create("replaced");
  const wider = { ...schema, fields: [...schema.fields, { id: 2, name: "more", required: false, type: "string" }] };
  const updates = [{ action: "add-schema", schema: wider }, add("SELECT 2", { "schema-id": -1 }), toLast];
  const requirement = { type: "assert-view-uuid", uuid: before["view-uuid"]! };
  const reply = await replace("replaced", updates, [requirement]);
  expect(reply.status).toBe(200);
  const after = metadataOf(reply);
  expect(after).toMatchObject({
    "view-uuid": before["view-uuid"],
    "current-version-id": 2,
    schemas: [{ "schema-id": 0 }, { "schema-id": 1 }],
    versions: [{ "version-id": 1 }, { "version-id": 2, "schema-id": 1, representations: [{ sql: "SELECT 2" }] }],
    "version-log": [{ "version-id": 1 }, { "version-id": 2 }],
  });
  const loaded = await tables.call("GET", `${views}/replaced`);
  expect(metadataOf(loaded)).toEqual(after);
  const { "metadata-location": location } = loaded.body as { "metadata-location": string };
  expect(location).toMatch(/\/metadata\/00001-[^/]*\.gz\.metadata\.json$/);
  expect(await bucketOf(tables.world).list(location.replace(/\/[^/]*$/, ""))).toHaveLength(2);
  expect((await bucketOf(tables.world).read(location)).length).toBeGreaterThan(0);
});

test("an equal version and an equal schema are not added again", async () => {
  await create("equal");
  const again = [{ action: "add-schema", schema }, add("SELECT 1", { "schema-id": -1 }), toLast];
  const after = metadataOf(await replace("equal", again));
  expect([after["schemas"], after["versions"], after["version-log"]].map((list) => (list as Json[]).length)).toEqual([
    1, 1, 1,
  ]);
});

test("of old versions as many are kept as the view's properties say", async () => {
  await create("pruned");
  await replace("pruned", [{ action: "set-properties", updates: { "version.history.num-entries": "2", a: "b" } }]);
  for (const sql of ["SELECT 2", "SELECT 3"]) await replace("pruned", [add(sql), toLast]);
  const after = metadataOf(await replace("pruned", [{ action: "remove-properties", removals: ["a"] }]));
  expect((after["versions"] as JsonObject[]).map((each) => each["version-id"])).toEqual([2, 3]);
  expect(after["properties"]).toEqual({ "version.history.num-entries": "2" });
});

test.each<[string, Json[], Json[], unknown[]]>([
  ["for another view", [], [{ type: "assert-view-uuid", uuid: randomUUID() }], [400, "ViewUuidMismatch"]],
  ["that assigns an id", [{ action: "assign-uuid", uuid: randomUUID() }], [], [400, "AssignUuidNotSupported"]],
  ["to an unknown version", [{ ...toLast, "view-version-id": 9 }], [], [400, "SetCurrentViewVersionError"]],
  ["to a version that was not added", [toLast], [], [400, "SetCurrentViewVersionError"]],
  ["with an unknown schema", [add("SELECT 2", { "schema-id": 7 })], [], [400, "AppendViewVersionError"]],
  ["with a schema that was not added", [add("SELECT 2", { "schema-id": -1 })], [], [400, "AppendViewVersionError"]],
  ["out of the warehouse", [{ action: "set-location", location: "s3://lakehouse/x" }], [], [400, "InvalidLocation"]],
  ["of an unknown kind", [{ action: "add-snapshot", snapshot: {} }], [], [422, undefined]],
])("a change %s is refused and changes nothing", async (what, updates, requirements, refusal) => {
  const name = what.replace(/\W+/g, "_");
  const before = await create(name);
  const { status, type } = await replace(name, updates, requirements);
  expect([status, type]).toEqual(refusal);
  expect(metadataOf(await tables.call("GET", `${views}/${name}`))).toEqual(before);
});

test("of two that replace a view at once both get in, one after the other", async () => {
  await create("raced");
  const other = await tables.start();
  const replies = await Promise.all(
    [tables.call, other].map((call, index) =>
      call("POST", `${views}/raced`, { updates: [add(`SELECT ${index + 2}`), toLast] }),
    ),
  );
  expect(replies.map(({ status }) => status)).toEqual([200, 200]);
  const after = metadataOf(await tables.call("GET", `${views}/raced`));
  expect((after["version-log"] as JsonObject[]).map((entry) => entry["version-id"])).toEqual([1, 2, 3]);
});

test("a renamed view is found under its new name only, and a table's name is not free for it", async () => {
  await create("old");
  await tables.create("table");
  const namespace = ["main", "default"];
  const rename = (source: string, destination: string): Promise<Reply> =>
    tables.call("POST", `${tables.catalog}/views/rename`, {
      source: { namespace, name: source },
      destination: { namespace, name: destination },
    });
  expect((await rename("old", "new")).status).toBe(204);
  const heads = ["old", "new"].map(async (name) => (await tables.call("HEAD", `${views}/${name}`)).status);
  expect(await Promise.all(heads)).toEqual([404, 204]);
  expect((await rename("new", "table")).type).toBe("AlreadyExistsException");
  expect((await rename("missing", "other")).type).toBe("NoSuchViewException");
});

test("a change of a view that is missing is 404", async () => {
  const { status, type } = await replace("missing", []);
  expect([status, type]).toEqual([404, "NoSuchViewException"]);
});
