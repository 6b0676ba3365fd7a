import { keyOf, type Lakehouse, startLakehouse } from "./lakehouse.ts";
import type { Session } from "./session.ts";

// Rows lie in the files of their partition, readers open no more files than they must, and the partitioning can change.

interface Tick {
  readonly id: number;
  readonly symbol: string;
  readonly at: string;
}

const schema = {
  type: "struct",
  fields: [
    { id: 1, name: "id", type: "long", required: true },
    { id: 2, name: "symbol", type: "string", required: false },
    { id: 3, name: "at", type: "timestamp", required: false },
  ],
};

const ticks: readonly Tick[] = [
  { id: 1, symbol: "ABC", at: "2026-01-31T23:59:59" },
  { id: 2, symbol: "ABD", at: "2026-02-01T00:00:00" },
  { id: 3, symbol: "XYZ", at: "2026-02-01T12:00:00" },
  { id: 4, symbol: "XYZ", at: "2026-03-05T06:00:00" },
  { id: 5, symbol: "ABC", at: "2026-03-05T18:00:00" },
];

let lakehouse: Lakehouse;
let client: Session;

beforeAll(async () => {
  lakehouse = await startLakehouse();
  client = await lakehouse.client();
});
afterAll(() => lakehouse.close());

const byId = (rows: readonly Tick[]): Tick[] => rows.toSorted((one, other) => one.id - other.id);

/** The folders below data/ that hold files of the table. */
async function folders(table: string): Promise<string[]> {
  const { location } = await client.do<{ location: string }>("metadata", { table });
  const data = `${keyOf(location)}/data/`;
  const files = await lakehouse.files(data);
  return [...new Set(files.map((key) => key.slice(data.length).split("/").slice(0, -1).join("/")))].toSorted();
}

test.each([
  ["identity", "symbol", ["p=ABC", "p=ABD", "p=XYZ"], "symbol = 'XYZ'", 1],
  ["truncate[2]", "symbol", ["p=AB", "p=XY"], "symbol = 'ABD'", 1],
  ["year", "at", ["p=2026"], "at >= '2027-01-01T00:00:00'", 0],
  ["month", "at", ["p=2026-01", "p=2026-02", "p=2026-03"], "at >= '2026-02-01T00:00:00'", 2],
  ["day", "at", ["p=2026-01-31", "p=2026-02-01", "p=2026-03-05"], "at < '2026-02-01T00:00:00'", 1],
  [
    "hour",
    "at",
    ["p=2026-01-31-23", "p=2026-02-01-00", "p=2026-02-01-12", "p=2026-03-05-06", "p=2026-03-05-18"],
    "at >= '2026-02-01T10:00:00' and at < '2026-03-05T07:00:00'",
    2,
  ],
] as const)(
  "%s of %s: a folder for each value, and only matching files are opened",
  async (transform, field, expected, where, files) => {
    const table = `main.default.by_${transform.replace(/\W/g, "")}_${field}`;
    const source = schema.fields.find(({ name }) => name === field)!.id;
    const partition = [{ "source-id": source, "field-id": 1000, transform, name: "p" }];
    await client.do("create", { table, schema, partition });
    await client.do("append", { table, rows: ticks });
    expect(await folders(table)).toEqual(expected);
    expect(await client.do("planned_files", { table, where })).toHaveLength(files);
    expect(byId(await client.do("rows", { table }))).toEqual(ticks);
  },
);

test("buckets: every row is found by its value alone", async () => {
  const table = "main.default.by_bucket";
  const partition = [{ "source-id": 1, "field-id": 1000, transform: "bucket[3]", name: "p" }];
  const rows = Array.from({ length: 30 }, (_, id) => ({ id, symbol: `S${id}`, at: "2026-01-01T00:00:00" }));
  await client.do("create", { table, schema, partition });
  await client.do("append", { table, rows });
  expect(await folders(table)).toEqual(["p=0", "p=1", "p=2"]);
  for (const id of [0, 13, 29]) {
    expect(await client.do("rows", { table, where: `id = ${id}` })).toEqual([rows[id]]);
    expect(await client.do("planned_files", { table, where: `id = ${id}` })).toHaveLength(1);
  }
});

test("the partitions that new rows fall into are replaced, the others are left", async () => {
  const table = "main.default.replaced";
  const partition = [{ "source-id": 2, "field-id": 1000, transform: "identity", name: "symbol" }];
  await client.do("create", { table, schema, partition });
  await client.do("append", { table, rows: ticks });
  const rows = [{ id: 10, symbol: "XYZ", at: "2026-04-01T00:00:00" }];
  await client.do("overwrite_partitions", { table, rows });
  expect(byId(await client.do("rows", { table }))).toEqual([
    ...ticks.filter(({ symbol }) => symbol !== "XYZ"),
    ...rows,
  ]);
});

test("the partitioning changes while there are rows: old files stay where they are, new ones go by the new rule", async () => {
  const table = "main.default.evolved";
  await client.do("create", { table, schema });
  const [a, b, c, d, e] = ticks;
  await client.do("append", { table, rows: [a] });
  await client.do("partition_by", { table, field: "at", transform: "month", name: "month" });
  await client.do("append", { table, rows: [b, c] });
  await client.do("partition_by", { table, field: "symbol", transform: "identity", name: "symbol" });
  await client.do("append", { table, rows: [d] });
  await client.do("stop_partitioning_by", { table, name: "month" });
  await client.do("append", { table, rows: [e] });

  expect(await folders(table)).toEqual(["", "month=2026-02", "month=2026-03/symbol=XYZ", "symbol=ABC"]);
  expect(byId(await client.do("rows", { table }))).toEqual(ticks);
  // Of the file without partition only its statistics tell that it has no such row.
  expect(await client.do("rows", { table, where: "symbol = 'XYZ'" })).toEqual(expect.arrayContaining([c, d]));
  await client.do("delete", { table, where: "symbol = 'XYZ'" });
  expect(byId(await client.do("rows", { table }))).toEqual([a, b, e]);

  const metadata = await client.do<{ "partition-specs": { fields: { name: string; "field-id": number }[] }[] }>(
    "metadata",
    { table },
  );
  const specs = metadata["partition-specs"].map(({ fields }) => fields.map((field) => [field.name, field["field-id"]]));
  expect(specs).toEqual([
    [],
    [["month", 1000]],
    [
      ["month", 1000],
      ["symbol", 1001],
    ],
    [["symbol", 1001]],
  ]);
});

test("the order of rows changes", async () => {
  const table = "main.default.sorted";
  await client.do("create", { table, schema });
  await client.do("sort_descending_by", { table, field: "at" });
  const metadata = await client.do<Record<string, never>>("metadata", { table });
  const order = { "source-id": 3, transform: "identity", direction: "desc", "null-order": "nulls-last" };
  expect(metadata["sort-orders"]).toEqual([
    { "order-id": 0, fields: [] },
    { "order-id": metadata["default-sort-order-id"], fields: [expect.objectContaining(order)] },
  ]);
  await client.do("append", { table, rows: ticks });
  expect(byId(await client.do("rows", { table }))).toEqual(ticks);
});
