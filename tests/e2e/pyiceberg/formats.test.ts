import { gunzipSync } from "node:zlib";
import { parseJson } from "../../../clients/json.ts";
import { bucketName, keyOf, type Lakehouse, startLakehouse } from "./lakehouse.ts";
import type { Session, Snapshot } from "./session.ts";

// Format versions: a table is upgraded, and PyIceberg meets one that is newer than what it can write.

const schema = { type: "struct", fields: [{ id: 1, name: "id", type: "long", required: false }] };

let lakehouse: Lakehouse;
let client: Session;

beforeAll(async () => {
  lakehouse = await startLakehouse();
  client = await lakehouse.client();
});
afterAll(() => lakehouse.close());

test("a table of version 1 becomes one of version 2, with its rows and history", async () => {
  const table = "main.default.upgraded";
  await client.do("create", { table, schema, properties: { "format-version": "1" } });
  await client.do("append", { table, rows: [{ id: 1 }] });
  expect(await client.do("metadata", { table })).toMatchObject({ "format-version": 1 });
  const before = await client.do<Snapshot[]>("history", { table });

  await client.do("upgrade", { table, version: 2 });
  expect(await client.do("metadata", { table })).toMatchObject({ "format-version": 2, "last-sequence-number": 0 });
  expect(await client.do("rows", { table })).toEqual([{ id: 1 }]);
  await client.do("append", { table, rows: [{ id: 2 }] });
  expect(await client.do("metadata", { table })).toMatchObject({ "last-sequence-number": 1 });
  const after = await client.do<Snapshot[]>("history", { table });
  expect(after.map(({ id }) => id)).toEqual([...before.map(({ id }) => id), after.at(-1)!.id]);
  expect(await client.do("rows", { table })).toHaveLength(2);
});

test("a version is not taken back", async () => {
  const table = "main.default.stays";
  await client.do("create", { table, schema });
  await expect(client.do("upgrade", { table, version: 1 })).rejects.toThrow("Cannot downgrade v2 table to v1");
});

test("version 3: PyIceberg makes and reads the table and changes its schema, but does not write rows", async () => {
  const table = "main.default.third";
  await client.do("create", { table, schema, properties: { "format-version": "3" } });
  expect(await metadataInBucket(table)).toMatchObject({ "format-version": 3, "next-row-id": 0 });
  await client.do("add_field", { table, path: ["note"], type: "string" });
  expect(await client.do("rows", { table })).toEqual([]);
  await expect(client.do("append", { table, rows: [{ id: 1, note: "a" }] })).rejects.toThrow(
    "Cannot write manifest for table version: 3",
  );
  const metadata = await metadataInBucket(table);
  expect(metadata).toMatchObject({ "format-version": 3, "current-schema-id": 1, "next-row-id": 0 });
  expect(metadata).not.toHaveProperty("current-snapshot-id");
});

/** PyIceberg itself refuses to write metadata of version 3 as JSON. */
async function metadataInBucket(table: string): Promise<unknown> {
  const file = keyOf(await client.do("metadata_location", { table }));
  return parseJson(gunzipSync(await lakehouse.bucket.get(bucketName, file)).toString());
}
