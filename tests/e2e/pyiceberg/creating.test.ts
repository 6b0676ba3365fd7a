import { keyOf, type Lakehouse, startLakehouse } from "./lakehouse.ts";
import type { Session } from "./session.ts";

// Namespaces and tables are made: at once, and in a transaction together with their first rows.

const schema = {
  type: "struct",
  fields: [
    { id: 1, name: "id", type: "long", required: true },
    { id: 2, name: "at", type: "timestamptz", required: false },
    { id: 3, name: "symbol", type: "string", required: false },
  ],
};

let lakehouse: Lakehouse;
let client: Session;
let other: Session;

beforeAll(async () => {
  lakehouse = await startLakehouse();
  [client, other] = [await lakehouse.client(), await lakehouse.client()];
});
afterAll(() => lakehouse.close());

test("namespaces lie in one another and have properties", async () => {
  await client.do("create_namespace", { namespace: "research", properties: { owner: "quant" } });
  await client.do("create_namespace", { namespace: "research.daily" });
  expect(await other.do("list_namespaces")).toEqual(["main", "research"]);
  expect(await other.do("list_namespaces", { parent: "research" })).toEqual(["research.daily"]);
  expect(await other.do("namespace_properties", { namespace: "research" })).toMatchObject({ owner: "quant" });
});

test("a namespace is not made twice, nor without its parent, nor dropped with something in it", async () => {
  await expect(client.do("create_namespace", { namespace: "main" })).rejects.toThrow("NamespaceAlreadyExistsError");
  await expect(client.do("create_namespace", { namespace: "nowhere.a" })).rejects.toThrow("NoSuchNamespace");
  await expect(client.do("drop_namespace", { namespace: "main" })).rejects.toThrow("NamespaceNotEmpty");
  await client.do("create_namespace", { namespace: "main.gone" });
  await client.do("drop_namespace", { namespace: "main.gone" });
  expect(await other.do("list_namespaces", { parent: "main" })).not.toContain("main.gone");
});

test("a table has the schema, partitioning, order and properties it was made with", async () => {
  const table = "main.default.made";
  await client.do("create", {
    table,
    schema,
    partition: [
      { "source-id": 2, "field-id": 1000, transform: "day", name: "day" },
      { "source-id": 3, "field-id": 1001, transform: "bucket[4]", name: "symbol_bucket" },
    ],
    sort: [{ "source-id": 1, transform: "identity", direction: "desc", "null-order": "nulls-last" }],
    properties: { owner: "quant", "write.parquet.compression-codec": "zstd" },
  });
  const metadata = await other.do<Record<string, never>>("metadata", { table });
  expect(metadata).toMatchObject({
    "format-version": 2,
    schemas: [{ fields: schema.fields }],
    "last-column-id": 3,
    "partition-specs": [
      {
        fields: [
          { "source-id": 2, "field-id": 1000, transform: "day", name: "day" },
          { "source-id": 3, "field-id": 1001, transform: "bucket[4]", name: "symbol_bucket" },
        ],
      },
    ],
    "last-partition-id": 1001,
    "sort-orders": [{ fields: [{ "source-id": 1, direction: "desc", "null-order": "nulls-last" }] }],
    properties: { owner: "quant", "write.parquet.compression-codec": "zstd" },
  });
  expect(metadata["default-sort-order-id"]).not.toBe(0);
});

test("a table is not made twice, nor in a namespace that is not there", async () => {
  await client.do("create", { table: "main.default.once", schema });
  await expect(other.do("create", { table: "main.default.once", schema })).rejects.toThrow("TableAlreadyExistsError");
  await expect(other.do("create", { table: "nowhere.once", schema })).rejects.toThrow("NoSuchNamespace");
});

test("properties are set and removed", async () => {
  const table = "main.default.properties";
  await client.do("create", { table, schema, properties: { stays: "1", changes: "2", goes: "3" } });
  await client.do("set_properties", { table, updates: { changes: "20", comes: "4" }, removals: ["goes"] });
  const { properties } = await other.do<{ properties: Record<string, string> }>("metadata", { table });
  expect(properties).toEqual(expect.objectContaining({ stays: "1", changes: "20", comes: "4" }));
  expect(properties).not.toHaveProperty("goes");
});

describe("together with its first rows", () => {
  const rows = [
    { id: 1, at: "2026-01-01T10:00:00+00:00", symbol: "ABC" },
    { id: 2, at: "2026-01-02T10:00:00+00:00", symbol: null },
  ];

  test("a table appears in one commit", async () => {
    const table = "main.default.staged";
    const seenBefore = await client.do("create_with_rows", { table, schema, rows, properties: { owner: "quant" } });
    expect(seenBefore).toBe(false);
    expect(await other.do("rows", { table })).toEqual(rows);
    expect(await other.do("metadata", { table })).toMatchObject({ properties: { owner: "quant" }, "metadata-log": [] });
    const metadataFile = keyOf(await other.do("metadata_location", { table }));
    expect(metadataFile).toMatch(/\/metadata\/00000-[0-9a-f-]{36}\.gz\.metadata\.json$/);
    const written = await lakehouse.files(metadataFile.replace(/[^/]*$/, ""));
    expect(written.filter((key) => key.endsWith(".metadata.json"))).toEqual([metadataFile]);
  });

  test("a table does not appear when its writer fails before the commit", async () => {
    const table = "main.default.failed";
    await expect(client.do("create_with_rows", { table, schema, rows, fails: true })).rejects.toThrow("RuntimeError");
    expect(await other.do("exists", { table })).toBe(false);
    expect(await other.do("list_tables", { namespace: "main.default" })).not.toContain(table);
    await other.do("create", { table, schema });
    expect(await client.do("rows", { table })).toEqual([]);
  });

  test("the second of two writers of one name is refused, and the first one's rows stay", async () => {
    const table = "main.default.raced";
    await expect(client.do("race_of_creates", { table, schema, rows })).rejects.toThrow("CommitFailedException");
    expect(await other.do("rows", { table })).toEqual(rows);
  });
});

test("changes of several kinds in one transaction are one version of the table", async () => {
  const table = "main.default.together";
  const at = "2026-01-01T10:00:00+00:00";
  await client.do("create_with_rows", { table, schema, rows: [1, 2, 3].map((id) => ({ id, at, symbol: "ABC" })) });
  const before = await client.do<string>("metadata_location", { table });
  await client.do("change_all_at_once", {
    table,
    rows: [{ id: 4, at, symbol: "XYZ", note: "new" }],
    delete: "id < 3",
    properties: { owner: "quant" },
  });
  const found = await other.do<{ id: number }[]>("rows", { table });
  expect(found.toSorted((one, two) => one.id - two.id)).toEqual([
    { id: 3, at, symbol: "ABC", note: null },
    { id: 4, at, symbol: "XYZ", note: "new" },
  ]);
  const metadata = await other.do<{ "metadata-log": { "metadata-file": string }[] }>("metadata", { table });
  expect(metadata["metadata-log"].map((entry) => entry["metadata-file"])).toEqual([before]);
  expect(metadata).toMatchObject({ properties: { owner: "quant" } });
});
