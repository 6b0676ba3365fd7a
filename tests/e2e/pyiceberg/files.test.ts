import { keyOf, type Lakehouse, startLakehouse } from "./lakehouse.ts";
import type { Session, Snapshot } from "./session.ts";

// Files that somebody else wrote become part of a table: Parquet files with rows, and statistics.

const schema = {
  type: "struct",
  fields: [
    { id: 1, name: "id", type: "long", required: false },
    { id: 2, name: "symbol", type: "string", required: false },
  ],
};
const rows = [
  { id: 1, symbol: "ABC" },
  { id: 2, symbol: "XYZ" },
];

let lakehouse: Lakehouse;
let client: Session;
let other: Session;

beforeAll(async () => {
  lakehouse = await startLakehouse();
  [client, other] = [await lakehouse.client(), await lakehouse.client()];
});
afterAll(() => lakehouse.close());

test("the rows of a Parquet file that is added are there, and the file is not copied", async () => {
  const table = "main.default.adopted";
  await client.do("create_with_rows", { table, schema, rows });
  const foreign = [
    { id: 10, symbol: "NEW" },
    { id: 11, symbol: null },
  ];
  const location = await client.do<string>("write_parquet", { table, name: "foreign.parquet", rows: foreign });
  expect(await other.do("rows", { table })).toHaveLength(2);
  await client.do("add_files", { table, locations: [location] });

  const found = await other.do<{ id: number }[]>("rows", { table });
  expect(found.toSorted((one, two) => one.id - two.id)).toEqual([...rows, ...foreign]);
  const { location: below } = await other.do<{ location: string }>("metadata", { table });
  const files = (await lakehouse.files(`${below}/data/`)).filter((key) => key.endsWith(".parquet"));
  expect(files).toHaveLength(2);
  expect(files).toContain(keyOf(location));
  // By name, as the file has no ids of fields: also after a field has got another name.
  await client.do("rename_field", { table, path: ["symbol"], to: "name" });
  expect(await other.do("rows", { table, where: "id = 10" })).toEqual([{ id: 10, name: "NEW" }]);

  await expect(client.do("add_files", { table, locations: [location] })).rejects.toThrow("already referenced by table");
  expect(await other.do("rows", { table })).toHaveLength(4);
});

test("statistics belong to a snapshot, are replaced, and go", async () => {
  const table = "main.default.counted";
  await client.do("create_with_rows", { table, schema, rows });
  await client.do("append", { table, rows });
  const [first, second] = await client.do<Snapshot[]>("history", { table });
  const { location } = await client.do<{ location: string }>("metadata", { table });
  const of = (snapshot: Snapshot, name: string): object => ({
    "snapshot-id": snapshot.id,
    "statistics-path": `${location}/metadata/${name}.stats`,
    "file-size-in-bytes": 413,
    "file-footer-size-in-bytes": 42,
    "blob-metadata": [
      {
        type: "apache-datasketches-theta-v1",
        "snapshot-id": snapshot.id,
        "sequence-number": 1,
        fields: [1],
        properties: { ndv: "2" },
      },
    ],
  });
  const statistics = async (): Promise<unknown> =>
    (await other.do<{ statistics: unknown }>("metadata", { table })).statistics;

  await client.do("set_statistics", { table, statistics: of(first!, "first") });
  await client.do("set_statistics", { table, statistics: of(second!, "second") });
  expect(await statistics()).toMatchObject([of(first!, "first"), of(second!, "second")]);
  await client.do("set_statistics", { table, statistics: of(second!, "anew") });
  expect(await statistics()).toMatchObject([of(first!, "first"), of(second!, "anew")]);
  await client.do("remove_statistics", { table, snapshot: first!.id });
  expect(await statistics()).toMatchObject([of(second!, "anew")]);
  expect(await other.do("rows", { table })).toHaveLength(4);
});
