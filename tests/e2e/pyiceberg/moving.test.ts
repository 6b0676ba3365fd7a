import { keyOf, type Lakehouse, startLakehouse } from "./lakehouse.ts";
import type { Session } from "./session.ts";

// Tables get other names, go, and come back.

const schema = { type: "struct", fields: [{ id: 1, name: "id", type: "long", required: false }] };
const rows = [{ id: 1 }, { id: 2 }];

let lakehouse: Lakehouse;
let client: Session;
let other: Session;

beforeAll(async () => {
  lakehouse = await startLakehouse();
  [client, other] = [await lakehouse.client(), await lakehouse.client()];
  await client.do("create_namespace", { namespace: "main.test" });
});
afterAll(() => lakehouse.close());

/** A table with two rows, and where its current metadata is. */
async function make(table: string): Promise<string> {
  await client.do("create_with_rows", { table, schema, rows });
  return client.do("metadata_location", { table });
}

async function filesOf(metadataLocation: string): Promise<string[]> {
  return lakehouse.files(metadataLocation.replace(/metadata\/[^/]*$/, ""));
}

test("a renamed table has its rows under the new name only, also in another namespace", async () => {
  const location = await make("main.default.old");
  const files = await filesOf(location);
  await client.do("rename", { table: "main.default.old", to: "main.test.new" });
  expect(await other.do("exists", { table: "main.default.old" })).toBe(false);
  expect(await other.do("rows", { table: "main.test.new" })).toEqual(rows);
  expect(await other.do("metadata_location", { table: "main.test.new" })).toBe(location);
  expect(await filesOf(location)).toEqual(files);
  await other.do("append", { table: "main.test.new", rows: [{ id: 3 }] });
  expect(await client.do("rows", { table: "main.test.new" })).toHaveLength(3);
  await make("main.default.old");
});

test("a table takes no name that another one has", async () => {
  await make("main.default.one");
  await make("main.default.two");
  const renamed = client.do("rename", { table: "main.default.one", to: "main.default.two" });
  // In these words: seen with Lakekeeper 0.13.3.
  await expect(renamed).rejects.toThrow("NoSuchTableError");
  const nowhere = client.do("rename", { table: "main.default.one", to: "nowhere.one" });
  await expect(nowhere).rejects.toThrow("NoSuchNamespace");
  expect(await other.do("rows", { table: "main.default.one" })).toEqual(rows);
  expect(await other.do("rows", { table: "main.default.two" })).toEqual(rows);
});

test("a dropped table leaves its files and comes back by registering its metadata", async () => {
  const table = "main.default.dropped";
  const location = await make(table);
  const files = await filesOf(location);
  await client.do("drop", { table });
  await expect(other.do("rows", { table })).rejects.toThrow("NoSuchTableError");
  expect(await filesOf(location)).toEqual(files);

  await client.do("register", { table: "main.test.back", location });
  expect(await other.do("rows", { table: "main.test.back" })).toEqual(rows);
  await other.do("append", { table: "main.test.back", rows: [{ id: 3 }] });
  expect(await client.do("rows", { table: "main.test.back" })).toHaveLength(3);
});

test("a purged table leaves no files", async () => {
  const table = "main.default.purged";
  const location = await make(table);
  const neighbour = await make("main.default.neighbour");
  await client.do("purge", { table });
  expect(await other.do("exists", { table })).toBe(false);
  // The server does it in the background.
  const deadline = Date.now() + 20_000;
  while ((await filesOf(location)).length > 0) {
    if (Date.now() > deadline) throw new Error(`still there: ${(await filesOf(location)).join(", ")}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  expect(await other.do("rows", { table: "main.default.neighbour" })).toEqual(rows);
  expect(await filesOf(neighbour)).toContain(keyOf(neighbour));
});

test("registering again: refused under any name, but newer metadata of the same table replaces the pointer", async () => {
  const table = "main.default.registered";
  const first = await make(table);
  await expect(client.do("register", { table, location: first })).rejects.toThrow("TableAlreadyExistsError");
  await expect(client.do("register", { table: `${table}_again`, location: first })).rejects.toThrow(
    "TableAlreadyExistsError",
  );
  await client.do("append", { table, rows: [{ id: 3 }] });
  const second = await client.do("metadata_location", { table });
  await client.do("register", { table, location: first, overwrite: true });
  expect(await other.do("rows", { table })).toEqual(rows);
  await client.do("register", { table, location: second, overwrite: true });
  expect(await other.do("rows", { table })).toHaveLength(3);
});

test("what is not there is neither read, renamed, dropped nor registered", async () => {
  const table = "main.default.missing";
  await expect(client.do("rows", { table })).rejects.toThrow("NoSuchTableError");
  await expect(client.do("rename", { table, to: "main.default.x" })).rejects.toThrow("NoSuchTableError");
  await expect(client.do("drop", { table })).rejects.toThrow("NoSuchTableError");
  const location = "s3://lakehouse/lakehouse/nothing/metadata/00000-a.metadata.json";
  await expect(client.do("register", { table, location })).rejects.toThrow("NotFound");
});
