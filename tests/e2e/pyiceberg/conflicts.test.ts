import { keyOf, type Lakehouse, startLakehouse } from "./lakehouse.ts";
import type { Session, Snapshot } from "./session.ts";

// Of two commits to one state of a table the second is refused; PyIceberg tries again when that can be right.

const schema = { type: "struct", fields: [{ id: 1, name: "id", type: "long", required: false }] };
const noRetries = { "commit.retry.num-retries": "0" };

let lakehouse: Lakehouse;
let client: Session;

beforeAll(async () => {
  lakehouse = await startLakehouse();
  client = await lakehouse.client();
});
afterAll(() => lakehouse.close());

async function make(table: string, properties: Record<string, string> = {}): Promise<void> {
  await client.do("create_with_rows", { table, schema, rows: [{ id: 1 }, { id: 2 }, { id: 3 }], properties });
}

async function ids(table: string): Promise<number[]> {
  const rows = await client.do<{ id: number }[]>("rows", { table });
  return rows.map(({ id }) => id).toSorted((one, other) => one - other);
}

test("a late append is refused and leaves no snapshot behind", async () => {
  const table = "main.default.refused";
  await make(table, noRetries);
  await expect(client.do("append_late", { table, first: [{ id: 4 }], second: [{ id: 5 }] })).rejects.toThrow(
    /^CommitFailedException: CatalogCommitConflicts: .*snapshot has changed/,
  );
  expect(await ids(table)).toEqual([1, 2, 3, 4]);
  const { location, snapshots } = await client.do<{ location: string; snapshots: { "manifest-list": string }[] }>(
    "metadata",
    { table },
  );
  const written = (await lakehouse.files(`${location}/metadata/`)).filter((key) => /\/snap-[^/]*$/.test(key));
  expect(written).toEqual(snapshots.map((snapshot) => keyOf(snapshot["manifest-list"])).toSorted());
});

test("a late append that is tried again comes after the other one", async () => {
  const table = "main.default.retried";
  await make(table);
  await client.do("append_late", { table, first: [{ id: 4 }], second: [{ id: 5 }] });
  expect(await ids(table)).toEqual([1, 2, 3, 4, 5]);
  const history = await client.do<Snapshot[]>("history", { table });
  expect(history.map(({ summary }) => summary["total-records"])).toEqual(["3", "4", "5"]);
});

test("rows that another commit has deleted are not brought back by a late delete", async () => {
  const table = "main.default.deleted";
  await make(table);
  // Both would write the file with the rows anew, each without its own row.
  await expect(client.do("delete_late", { table, first: "id = 1", second: "id = 2" })).rejects.toThrow(
    "ValidationException",
  );
  expect(await ids(table)).toEqual([2, 3]);
});

test("of two changes of the schema the late one is refused", async () => {
  const table = "main.default.changed";
  await make(table);
  await expect(client.do("add_field_late", { table, first: "mine", second: "yours" })).rejects.toThrow(
    "CommitFailedException",
  );
  expect(await client.do("rows", { table, where: "id = 1" })).toEqual([{ id: 1, mine: null }]);
});

test("rows do not get into another table of the same name", async () => {
  const table = "main.default.anew";
  await make(table, noRetries);
  await expect(client.do("append_after_it_was_dropped", { table, rows: [{ id: 4 }], made_anew: true })).rejects.toThrow(
    "CommitFailedException",
  );
  expect(await ids(table)).toEqual([]);
});

test("rows for a table that was dropped are refused, and do not bring it back", async () => {
  const table = "main.default.gone";
  await make(table);
  await expect(
    client.do("append_after_it_was_dropped", { table, rows: [{ id: 4 }], made_anew: false }),
  ).rejects.toThrow("NoSuchTable");
  expect(await client.do("exists", { table })).toBe(false);
});
