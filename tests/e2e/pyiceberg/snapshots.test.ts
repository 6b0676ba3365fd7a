import { keyOf, type Lakehouse, startLakehouse } from "./lakehouse.ts";
import type { Session, Snapshot } from "./session.ts";

// Time travel, tags, branches, rolling back, and snapshots that expire.

interface Row {
  readonly id: number;
}

type Refs = Record<string, { snapshot: bigint; tag: boolean }>;

const schema = { type: "struct", fields: [{ id: 1, name: "id", type: "long", required: false }] };
const table = "main.default.history";

let lakehouse: Lakehouse;
let client: Session;
/** Snapshots after 1, 2, ... 5 appends of one row each. */
let snapshots: Snapshot[];

beforeAll(async () => {
  lakehouse = await startLakehouse();
  client = await lakehouse.client();
  await client.do("create", { table, schema });
  for (const id of [1, 2, 3, 4, 5]) await client.do("append", { table, rows: [{ id }] });
  snapshots = await client.do("history", { table });
});
afterAll(() => lakehouse.close());

async function ids(of: { snapshot?: bigint; ref?: string; at?: number } = {}): Promise<number[]> {
  const rows = await client.do<Row[]>("rows", { table, ...of });
  return rows.map(({ id }) => id).toSorted((one, other) => one - other);
}

test("ids of snapshots go through the catalog unrounded", async () => {
  expect(snapshots.some(({ id }) => typeof id === "bigint")).toBe(true);
  for (const { id, manifestList } of snapshots) expect(manifestList).toContain(`/snap-${id}-`);
});

test("every snapshot can be read, by its id and by its time", async () => {
  for (const [index, { id, at }] of snapshots.entries()) {
    const expected = [1, 2, 3, 4, 5].slice(0, index + 1);
    expect(await ids({ snapshot: id })).toEqual(expected);
    expect(await ids({ at })).toEqual(expected);
  }
  await expect(client.do("rows", { table, snapshot: 42 })).rejects.toThrow("Snapshot not found: 42");
});

test("a tag names a snapshot", async () => {
  await client.do("tag", { table, name: "second", snapshot: snapshots[1]!.id });
  expect(await ids({ ref: "second" })).toEqual([1, 2]);
  expect((await client.do<Refs>("refs", { table }))["second"]).toEqual({ snapshot: snapshots[1]!.id, tag: true });
  await client.do("tag", { table, name: "brief", snapshot: snapshots[2]!.id });
  await client.do("untag", { table, name: "brief" });
  expect(Object.keys(await client.do<Refs>("refs", { table })).toSorted()).toEqual(["main", "second"]);
});

test("a branch goes its own way", async () => {
  await client.do("branch", { table, name: "trial", snapshot: snapshots[2]!.id });
  await client.do("append", { table, rows: [{ id: 30 }], branch: "trial" });
  await client.do("append", { table, rows: [{ id: 6 }] });
  expect(await ids({ ref: "trial" })).toEqual([1, 2, 3, 30]);
  expect(await ids()).toEqual([1, 2, 3, 4, 5, 6]);
  const refs = await client.do<Refs>("refs", { table });
  const all = await client.do<Snapshot[]>("snapshots", { table });
  expect(all.find(({ id }) => id === refs["trial"]!.snapshot)!.parent).toBe(snapshots[2]!.id);

  await client.do("remove_branch", { table, name: "trial" });
  expect(await client.do("refs", { table })).not.toHaveProperty("trial");
  expect(await ids()).toEqual([1, 2, 3, 4, 5, 6]);
});

test("the table is rolled back, and goes on from there", async () => {
  await client.do("roll_back", { table, snapshot: snapshots[3]!.id });
  expect(await ids()).toEqual([1, 2, 3, 4]);
  await client.do("append", { table, rows: [{ id: 7 }] });
  expect(await ids()).toEqual([1, 2, 3, 4, 7]);
  const history = await client.do<Snapshot[]>("history", { table });
  expect(history.slice(0, 4).map(({ id }) => id)).toEqual(snapshots.slice(0, 4).map(({ id }) => id));
  expect(history).toHaveLength(5);
});

test("expired snapshots are gone, rows are not", async () => {
  const all = await client.do<Snapshot[]>("snapshots", { table });
  const [first, , third] = snapshots;
  await client.do("expire", { table, ids: [first!.id, third!.id] });
  const left = await client.do<Snapshot[]>("snapshots", { table });
  const expired = [first!.id, third!.id];
  expect(new Set(left.map(({ id }) => id))).toEqual(
    new Set(all.map(({ id }) => id).filter((id) => !expired.includes(id))),
  );
  await expect(ids({ snapshot: first!.id })).rejects.toThrow("Snapshot not found");
  expect(await ids()).toEqual([1, 2, 3, 4, 7]);
  expect(await ids({ ref: "second" })).toEqual([1, 2]);
});

test("a snapshot that has a name does not expire", async () => {
  const tagged = snapshots[1]!.id;
  await expect(client.do("expire", { table, ids: [tagged] })).rejects.toThrow("protected");
  expect(await ids({ ref: "second" })).toEqual([1, 2]);
});

test("metadata files: as many as the table is to remember, those before are deleted when it says so", async () => {
  const short = "main.default.short_memory";
  const properties = {
    "write.metadata.previous-versions-max": "3",
    "write.metadata.delete-after-commit.enabled": "true",
  };
  await client.do("create", { table: short, schema, properties });
  for (const id of [1, 2, 3, 4, 5, 6]) await client.do("append", { table: short, rows: [{ id }] });
  const metadata = await client.do<{ location: string; "metadata-log": { "metadata-file": string }[] }>("metadata", {
    table: short,
  });
  const remembered = metadata["metadata-log"].map((entry) => keyOf(entry["metadata-file"]));
  expect(remembered).toHaveLength(3);
  const files = await lakehouse.files(`${metadata.location}/metadata/`);
  const current = keyOf(await client.do("metadata_location", { table: short }));
  expect(files.filter((key) => key.endsWith(".metadata.json")).toSorted()).toEqual([...remembered, current].toSorted());
  expect(await client.do("rows", { table: short })).toHaveLength(6);
});
