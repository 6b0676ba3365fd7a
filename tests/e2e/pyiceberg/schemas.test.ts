import { type Lakehouse, startLakehouse } from "./lakehouse.ts";
import type { Session, Snapshot } from "./session.ts";

// The fields of a table change while it has rows: rows written before are read in the new form.

let lakehouse: Lakehouse;
let client: Session;
const table = "main.default.evolving";

beforeAll(async () => {
  lakehouse = await startLakehouse();
  client = await lakehouse.client();
  const point = {
    type: "struct",
    fields: [
      { id: 4, name: "x", type: "float", required: false },
      { id: 5, name: "y", type: "float", required: false },
    ],
  };
  const fields = [
    { id: 1, name: "id", type: "int", required: true },
    { id: 2, name: "name", type: "string", required: true },
    { id: 3, name: "point", type: point, required: false },
  ];
  await client.do("create", { table, schema: { type: "struct", fields } });
  await client.do("append", { table, rows: [{ id: 1, name: "one", point: { x: 0.5, y: 1.5 } }] });
});
afterAll(() => lakehouse.close());

interface Field {
  readonly id: number;
  readonly name: string;
  readonly type: string | { readonly fields: readonly Field[] };
  readonly required: boolean;
  readonly doc?: string;
}

/** Fields of the current schema. */
async function fields(): Promise<readonly Field[]> {
  const metadata = await client.do<{
    schemas: { "schema-id": number; fields: Field[] }[];
    "current-schema-id": number;
  }>("metadata", { table });
  return metadata.schemas.find((schema) => schema["schema-id"] === metadata["current-schema-id"])!.fields;
}

async function expectRows(...expected: object[]): Promise<void> {
  const found = await client.do<{ id: number }[]>("rows", { table });
  expect(found.toSorted((one, other) => one.id - other.id)).toEqual(expected);
}

test("a field is added: rows from before have null in it", async () => {
  await client.do("add_field", { table, path: ["price"], type: "decimal(9, 2)", doc: "in euros" });
  expect(await fields()).toContainEqual({
    id: 6,
    name: "price",
    type: "decimal(9, 2)",
    required: false,
    doc: "in euros",
  });
  await client.do("append", { table, rows: [{ id: 2, name: "two", point: null, price: "2.50" }] });
  await expectRows(
    { id: 1, name: "one", point: { x: 0.5, y: 1.5 }, price: null },
    { id: 2, name: "two", point: null, price: "2.50" },
  );
});

test("a field within a field is added", async () => {
  await client.do("add_field", { table, path: ["point", "z"], type: "float" });
  await client.do("append", { table, rows: [{ id: 3, name: "three", point: { x: 1, y: 2, z: 3 }, price: null }] });
  await expectRows(
    { id: 1, name: "one", point: { x: 0.5, y: 1.5, z: null }, price: null },
    { id: 2, name: "two", point: null, price: "2.50" },
    { id: 3, name: "three", point: { x: 1, y: 2, z: 3 }, price: null },
  );
});

test("fields are renamed, also one within another, and keep their ids and rows", async () => {
  const before = await fields();
  await client.do("rename_field", { table, path: ["name"], to: "title" });
  await client.do("rename_field", { table, path: ["point", "y"], to: "height" });
  expect((await fields()).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
  await expectRows(
    { id: 1, title: "one", point: { x: 0.5, height: 1.5, z: null }, price: null },
    { id: 2, title: "two", point: null, price: "2.50" },
    { id: 3, title: "three", point: { x: 1, height: 2, z: 3 }, price: null },
  );
});

test("types are widened: what did not fit fits then", async () => {
  await client.do("widen_field", { table, path: ["id"], type: "long" });
  await client.do("widen_field", { table, path: ["point", "x"], type: "double" });
  await client.do("widen_field", { table, path: ["price"], type: "decimal(18, 2)" });
  const large = { id: 5_000_000_000, title: "large", point: { x: 1e300, height: 0, z: 0 }, price: "1234567890123.45" };
  await client.do("append", { table, rows: [large] });
  await expectRows(
    { id: 1, title: "one", point: { x: 0.5, height: 1.5, z: null }, price: null },
    { id: 2, title: "two", point: null, price: "2.50" },
    { id: 3, title: "three", point: { x: 1, height: 2, z: 3 }, price: null },
    large,
  );
});

test("a type is not narrowed", async () => {
  await expect(client.do("widen_field", { table, path: ["id"], type: "int" })).rejects.toThrow("ValidationError");
});

test("a field that must be there may be missing from then on", async () => {
  await client.do("make_optional", { table, path: ["title"] });
  await client.do("append", { table, rows: [{ id: 4, title: null, point: null, price: null }] });
  expect(await client.do("rows", { table, where: "title is null" })).toEqual([
    { id: 4, title: null, point: null, price: null },
  ]);
});

test("a field is moved", async () => {
  await client.do("move_field_first", { table, path: ["price"] });
  expect((await fields()).map(({ name }) => name)).toEqual(["price", "id", "title", "point"]);
});

test("fields are dropped; one of the same name that comes later does not show what the dropped one had", async () => {
  await client.do("drop_field", { table, path: ["price"] });
  await client.do("drop_field", { table, path: ["point", "z"] });
  await client.do("add_field", { table, path: ["price"], type: "string" });
  expect((await fields()).map(({ name }) => name)).toEqual(["id", "title", "point", "price"]);
  await expectRows(
    { id: 1, title: "one", point: { x: 0.5, height: 1.5 }, price: null },
    { id: 2, title: "two", point: null, price: null },
    { id: 3, title: "three", point: { x: 1, height: 2 }, price: null },
    { id: 4, title: null, point: null, price: null },
    { id: 5_000_000_000, title: "large", point: { x: 1e300, height: 0 }, price: null },
  );
});

test("an old snapshot is read with the fields it was written with", async () => {
  const [first, second] = await client.do<Snapshot[]>("history", { table });
  expect(await client.do("rows", { table, snapshot: first!.id })).toEqual([
    { id: 1, name: "one", point: { x: 0.5, y: 1.5 } },
  ]);
  expect(await client.do("rows", { table, snapshot: second!.id, where: "id = 2" })).toEqual([
    { id: 2, name: "two", point: null, price: "2.50" },
  ]);
});

test("every schema it had is kept, and no field id was used twice", async () => {
  const metadata = await client.do<{ schemas: { fields: Field[] }[]; "last-column-id": number }>("metadata", { table });
  const names = metadata.schemas.map((schema) => schema.fields.map(({ name }) => name));
  expect(names[0]).toEqual(["id", "name", "point"]);
  expect(names.length).toBeGreaterThan(10);
  // id, name, point, x, y; price, z; the second price.
  expect(metadata["last-column-id"]).toBe(8);
});
