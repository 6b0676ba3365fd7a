import { parseJson } from "../../clients/json.ts";
import { metadataDifferences } from "../../providers/verification/metadata.ts";

const table = {
  "format-version": 2,
  "table-uuid": "5e63ab6e-7f43-4a4d-a2b6-26c3a49c2d67",
  location: "s3://lakehouse/t",
  schemas: [{ type: "struct", "schema-id": 0, fields: [{ id: 1, name: "d", type: "decimal(9,2)", required: true }] }],
  properties: { owner: "a b" },
};

test("the same document has no differences, in whatever order its fields are", () => {
  expect(metadataDifferences(table, Object.fromEntries(Object.entries(table).reverse()))).toEqual([]);
});

test.each<[string, object]>([
  ["an empty list or object", { statistics: [], "partition-statistics": [], "snapshot-log": [] }],
  ["a null", { "current-snapshot-id": null }],
  ["the id that means no snapshot", { "current-snapshot-id": -1 }],
  ["the sequence number of a table without one", { "last-sequence-number": 0 }],
])("a file may also have %s", (_what, extra) => {
  expect(metadataDifferences(table, { ...table, ...extra })).toEqual([]);
});

test("of format version 1 the catalog may leave out what is said twice, and the refs", () => {
  const extra = { schema: { type: "struct" }, "partition-spec": [{ name: "p" }], refs: { main: { "snapshot-id": 1 } } };
  const v1 = { ...table, "format-version": 1 };
  expect(metadataDifferences(v1, { ...v1, ...extra })).toEqual([]);
  expect(metadataDifferences({ ...v1, schema: { type: "list" } }, { ...v1, ...extra })).toEqual(["schema"]);
  expect(metadataDifferences(table, { ...table, ...extra })).toEqual(["schema", "partition-spec", "refs"]);
});

test("a file may write decimal types with a space and its location with a slash", () => {
  const text = JSON.stringify(table).replace("decimal(9,2)", "decimal(9, 2)").replace("lakehouse/t", "lakehouse/t/");
  expect(metadataDifferences(table, JSON.parse(text))).toEqual([]);
});

test("the catalog may derive what an old file does not have", () => {
  const derived = {
    refs: { main: { "snapshot-id": 1, type: "branch" } },
    "sort-orders": [{ "order-id": 0, fields: [] }],
  };
  expect(metadataDifferences({ ...table, ...derived }, table)).toEqual([]);
  expect(metadataDifferences({ ...table, ...derived }, { ...table, refs: { main: { "snapshot-id": 2 } } })).toEqual([
    "refs",
  ]);
});

test.each<[string, object, object]>([
  ["current-snapshot-id", { "current-snapshot-id": 7 }, {}],
  ["current-snapshot-id", {}, { "current-snapshot-id": 7 }],
  ["table-uuid", { "table-uuid": "0" }, {}],
  ["properties", {}, { properties: { owner: "ab" } }],
  ["schemas", { schemas: [{ type: "struct", "schema-id": 1, fields: [] }] }, {}],
])("%s that differs is named: catalog %j, file %j", (name, catalog, file) => {
  expect(metadataDifferences({ ...table, ...catalog }, { ...table, ...file })).toEqual([name]);
});

test("ids that differ beyond 2^53 differ", () => {
  const withId = (id: string) => parseJson(`{"current-snapshot-id":${id}}`);
  expect(metadataDifferences(withId("5832468467513096781"), withId("5832468467513096781"))).toEqual([]);
  expect(metadataDifferences(withId("5832468467513096781"), withId("5832468467513096782"))).toEqual([
    "current-snapshot-id",
  ]);
});
