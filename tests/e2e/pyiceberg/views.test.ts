import { keyOf, type Lakehouse, startLakehouse } from "./lakehouse.ts";
import type { Session } from "./session.ts";

// PyIceberg makes, loads, lists and drops views; it does not change them.

const schema = { type: "struct", fields: [{ id: 1, name: "id", type: "long", required: false }] };
const view = "main.default.large_ids";
const sql = "SELECT id FROM main.default.ids WHERE id > 100";

let lakehouse: Lakehouse;
let client: Session;
let other: Session;

beforeAll(async () => {
  lakehouse = await startLakehouse();
  [client, other] = [await lakehouse.client(), await lakehouse.client()];
});
afterAll(() => lakehouse.close());

test("a view is loaded as it was made, and listed among the views only", async () => {
  await client.do("create_view", { view, schema, sql });
  const metadata = await other.do<{ location: string }>("load_view", { view });
  expect(metadata).toMatchObject({
    "current-version-id": 1,
    schemas: [{ fields: schema.fields }],
    versions: [{ representations: [{ type: "sql", sql, dialect: "spark" }], "default-namespace": ["main", "default"] }],
  });
  expect(await other.do("list_views", { namespace: "main.default" })).toEqual([view]);
  expect(await other.do("list_tables", { namespace: "main.default" })).toEqual([]);
  const files = await lakehouse.files(metadata.location);
  expect(files).toEqual([
    expect.stringMatching(`^${keyOf(metadata.location)}/metadata/00000-.*\\.gz\\.metadata\\.json$`),
  ]);
});

test("a view is not made twice, nor is a table made or loaded under its name", async () => {
  await expect(other.do("create_view", { view, schema, sql })).rejects.toThrow("ViewAlreadyExistsError");
  await expect(other.do("create", { table: view, schema })).rejects.toThrow("TableAlreadyExistsError");
  await expect(other.do("rows", { table: view })).rejects.toThrow("NoSuchTableError");
});

test("a dropped view is gone, and its name is free", async () => {
  await client.do("drop_view", { view });
  expect(await other.do("view_exists", { view })).toBe(false);
  await expect(other.do("load_view", { view })).rejects.toThrow("NoSuchView");
  await expect(other.do("drop_view", { view })).rejects.toThrow("NoSuchView");
  await client.do("create", { table: view, schema });
  expect(await other.do("rows", { table: view })).toEqual([]);
});
