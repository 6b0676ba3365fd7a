import { type Lakehouse, startLakehouse } from "./lakehouse.ts";
import type { Session } from "./session.ts";

// Fields change within the elements of a list and the values of a map, while the table has rows.

const element = { type: "struct", fields: [{ id: 4, name: "venue", type: "string", required: false }] };
const value = { type: "struct", fields: [{ id: 8, name: "size", type: "int", required: false }] };
const schema = {
  type: "struct",
  fields: [
    { id: 1, name: "id", type: "long", required: true },
    {
      id: 2,
      name: "legs",
      type: { type: "list", "element-id": 3, element, "element-required": false },
      required: false,
    },
    {
      id: 5,
      name: "books",
      type: { type: "map", "key-id": 6, key: "string", "value-id": 7, value, "value-required": false },
      required: false,
    },
  ],
};
const table = "main.default.nested";

let lakehouse: Lakehouse;
let client: Session;

beforeAll(async () => {
  lakehouse = await startLakehouse();
  client = await lakehouse.client();
  await client.do("create", { table, schema });
  await client.do("append", { table, rows: [{ id: 1, legs: [{ venue: "a" }], books: [["x", { size: 1 }]] }] });
});
afterAll(() => lakehouse.close());

const row = async (id: number): Promise<unknown[]> => client.do("rows", { table, where: `id = ${id}` });

test("a field is added to the elements of a list", async () => {
  await client.do("add_field", { table, path: ["legs", "fee"], type: "double" });
  await client.do("append", { table, rows: [{ id: 2, legs: [{ venue: "b", fee: 0.5 }], books: [] }] });
  expect(await row(1)).toEqual([{ id: 1, legs: [{ venue: "a", fee: null }], books: [["x", { size: 1 }]] }]);
  expect(await row(2)).toEqual([{ id: 2, legs: [{ venue: "b", fee: 0.5 }], books: [] }]);
});

test("a field of the values of a map is widened and renamed", async () => {
  await client.do("widen_field", { table, path: ["books", "value", "size"], type: "long" });
  await client.do("rename_field", { table, path: ["books", "value", "size"], to: "depth" });
  await client.do("append", { table, rows: [{ id: 3, legs: [], books: [["y", { depth: 5_000_000_000 }]] }] });
  expect(await row(1)).toEqual([{ id: 1, legs: [{ venue: "a", fee: null }], books: [["x", { depth: 1 }]] }]);
  expect(await row(3)).toEqual([{ id: 3, legs: [], books: [["y", { depth: 5_000_000_000 }]] }]);
});

test("a field of the elements of a list is dropped", async () => {
  await client.do("drop_field", { table, path: ["legs", "element", "venue"] });
  expect(await row(2)).toEqual([{ id: 2, legs: [{ fee: 0.5 }], books: [] }]);
});
