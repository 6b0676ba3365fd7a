import { type Lakehouse, startLakehouse } from "./lakehouse.ts";
import type { Session, Snapshot } from "./session.ts";

// DuckDB on the same tables: it reads what PyIceberg wrote and the other way round, with keys from the catalog.

const schema = {
  type: "struct",
  fields: [
    { id: 1, name: "id", type: "long", required: false },
    { id: 2, name: "symbol", type: "string", required: false },
  ],
};
const rows = [
  { id: 1, symbol: "ABC" },
  { id: 2, symbol: null },
];

let lakehouse: Lakehouse;
let pyiceberg: Session;
let duckdb: Session;

beforeAll(async () => {
  lakehouse = await startLakehouse();
  [pyiceberg, duckdb] = [await lakehouse.client(), await lakehouse.duckdb()];
});
afterAll(() => lakehouse.close());

const sql = (query: string): Promise<unknown[]> => duckdb.do("sql", { query });
/** A nested namespace is one name to DuckDB. */
const named = (table: string): string => `lakehouse."main.default".${table}`;

test("DuckDB reads what PyIceberg wrote, also after it changed", async () => {
  const table = "main.default.read";
  const partition = [{ "source-id": 2, "field-id": 1000, transform: "identity", name: "symbol" }];
  await pyiceberg.do("create", { table, schema, partition });
  await pyiceberg.do("append", { table, rows });
  expect(await sql(`FROM ${named("read")} ORDER BY id`)).toEqual(rows);
  await pyiceberg.do("append", { table, rows: [{ id: 3, symbol: "XYZ" }] });
  await pyiceberg.do("delete", { table, where: "id = 1" });
  await pyiceberg.do("rename_field", { table, path: ["symbol"], to: "name" });
  expect(await sql(`SELECT id, name FROM ${named("read")} ORDER BY id`)).toEqual([
    { id: 2, name: null },
    { id: 3, name: "XYZ" },
  ]);
});

test("DuckDB reads an older snapshot by its id, which is beyond 2^53", async () => {
  const table = "main.default.older";
  await pyiceberg.do("create_with_rows", { table, schema, rows });
  const [first] = await pyiceberg.do<Snapshot[]>("history", { table });
  await pyiceberg.do("overwrite", { table, rows: [{ id: 9, symbol: "NEW" }] });
  expect(await sql(`FROM ${named("older")} AT (VERSION => ${first!.id}) ORDER BY id`)).toEqual(rows);
  expect(await sql(`FROM ${named("older")}`)).toEqual([{ id: 9, symbol: "NEW" }]);
});

test("PyIceberg reads and goes on with what DuckDB made", async () => {
  const table = "main.default.made";
  await sql(`CREATE TABLE ${named("made")} (id BIGINT, symbol VARCHAR)`);
  await sql(`INSERT INTO ${named("made")} VALUES (1, 'ABC'), (2, NULL)`);
  expect(await pyiceberg.do("rows", { table })).toEqual(rows);
  await pyiceberg.do("append", { table, rows: [{ id: 3, symbol: "XYZ" }] });
  expect(await sql(`SELECT count(*)::INT AS n, max(id)::INT AS last FROM ${named("made")}`)).toEqual([
    { n: 3, last: 3 },
  ]);
  const history = await pyiceberg.do<Snapshot[]>("history", { table });
  expect(history.map(({ summary }) => summary["total-records"])).toEqual(["2", "3"]);
});

test("rows that DuckDB deletes and updates by marking them are gone for PyIceberg too", async () => {
  const table = "main.default.marked";
  await pyiceberg.do("create_with_rows", { table, schema, rows: [...rows, { id: 3, symbol: "XYZ" }] });
  await sql(`DELETE FROM ${named("marked")} WHERE id = 1`);
  await sql(`UPDATE ${named("marked")} SET symbol = 'SET' WHERE id = 2`);
  const found = await pyiceberg.do<{ id: number }[]>("rows", { table });
  expect(found.toSorted((one, other) => one.id - other.id)).toEqual([
    { id: 2, symbol: "SET" },
    { id: 3, symbol: "XYZ" },
  ]);
  const history = await pyiceberg.do<Snapshot[]>("history", { table });
  expect(history.map(({ summary }) => Number(summary["total-delete-files"] ?? 0))).toEqual([0, 1, expect.any(Number)]);
});

test("a transaction of DuckDB over two tables is seen whole or not at all", async () => {
  for (const name of ["left_side", "right_side"]) await sql(`CREATE TABLE ${named(name)} (id BIGINT)`);
  const counts = async (): Promise<number[]> => {
    const found = ["left_side", "right_side"].map((name) =>
      pyiceberg.do<unknown[]>("rows", { table: `main.default.${name}` }),
    );
    return (await Promise.all(found)).map(({ length }) => length);
  };
  for (const [end, expected] of [
    ["ROLLBACK", [0, 0]],
    ["COMMIT", [1, 1]],
  ] as const) {
    await sql("BEGIN");
    for (const name of ["left_side", "right_side"]) await sql(`INSERT INTO ${named(name)} VALUES (1)`);
    expect(await counts()).toEqual([0, 0]);
    await sql(end);
    expect(await counts()).toEqual(expected);
  }
});

test("schemas and tables come and go", async () => {
  await sql(`CREATE SCHEMA lakehouse."main.ducks"`);
  await sql(`CREATE TABLE lakehouse."main.ducks".a (id BIGINT)`);
  expect(await pyiceberg.do("list_tables", { namespace: "main.ducks" })).toEqual(["main.ducks.a"]);
  await sql(`DROP TABLE lakehouse."main.ducks".a`);
  await sql(`DROP SCHEMA lakehouse."main.ducks"`);
  expect(await pyiceberg.do("list_namespaces", { parent: "main" })).toEqual(["main.default"]);
});

test("a token that is none is refused", async () => {
  const stranger = await lakehouse.duckdb("not-a-token");
  await expect(stranger.do("sql", { query: "SELECT 1" })).rejects.toThrow(/401|Unauthorized/);
});
