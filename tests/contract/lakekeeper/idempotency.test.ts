import { randomUUID } from "node:crypto";
import type { Json } from "../../../emulators/lakekeeper/http/json.ts";
import type { Client, Reply } from "./client.ts";
import { readTable } from "./history.ts";
import { append, inDefault, schema, startTableWorld, type TableWorld } from "./tableWorld.ts";

// A client whose answer was lost sends its change again, under the same Idempotency-Key, at any process of the catalog.

let tables: TableWorld;
let other: Client;
beforeAll(async () => {
  tables = await startTableWorld();
  other = await tables.start();
});
afterAll(() => tables.close());

/** Sends a request at one process and then, with the same key, at another. */
async function twice(method: string, path: string, body?: Json, key: string = randomUUID()): Promise<[Reply, Reply]> {
  const send = (call: Client): Promise<Reply> =>
    call(method, `${tables.catalog}/${path}`, body, { "idempotency-key": key });
  return [await send(tables.call), await send(other)];
}

/** The table that an answer shows, without the keys, which each process mints for itself. */
const tableIn = ({ body }: Reply): Json[] => {
  const shown = body as { metadata: Json; "metadata-location": string };
  return [shown["metadata-location"], shown.metadata];
};
const told = ({ status, type }: Reply): unknown[] => [status, type];

test("a table is created once, and shown again", async () => {
  const [first, second] = await twice("POST", `${inDefault}/tables`, { name: "created", schema });
  expect([told(first), told(second)]).toEqual([
    [200, undefined],
    [200, undefined],
  ]);
  expect(tableIn(second)).toEqual(tableIn(first));
  expect((second.body as { config: object }).config).toHaveProperty(["s3.session-token"]);
  expect(second.headers.get("etag")).toMatch(/^"lk1\./);
});

test("a table is registered once, and shown again", async () => {
  const { location } = await tables.register("source");
  await tables.call("DELETE", `${tables.catalog}/${inDefault}/tables/source?purgeRequested=false`);
  const body = { name: "registered", "metadata-location": `${location}/metadata/00003-a.metadata.json` };
  const [first, second] = await twice("POST", `${inDefault}/register`, body);
  expect([first.status, second.status]).toEqual([200, 200]);
  expect(tableIn(second)).toEqual(tableIn(first));
});

test("a commit happens once, and is answered with the table as it is by then", async () => {
  await tables.create("committed");
  const key = randomUUID();
  const path = `${inDefault}/tables/committed`;
  const body = { requirements: [], updates: append(11n, 1) };
  const [first, second] = await twice("POST", path, body, key);
  expect([first.status, second.status]).toEqual([200, 200]);
  expect(second.body).toEqual(first.body);
  expect((await tables.commit("committed", append(12n, 2, 11n))).status).toBe(200);
  const [third] = await twice("POST", path, body, key);
  const now = await readTable(tables.call, tables, "committed");
  expect(now.history.map(BigInt)).toEqual([11n, 12n]);
  expect((third.body as { "metadata-location": string })["metadata-location"]).toBe(now.metadataLocation);
});

test("a transaction, a rename, and what is dropped: the second request changes nothing and succeeds", async () => {
  for (const name of ["moved", "dropped"]) await tables.create(name);
  const namespace = ["main", "default"];
  const statuses = async (...request: Parameters<typeof twice>): Promise<number[]> =>
    (await twice(...request)).map(({ status }) => status);
  const changes = [{ identifier: { namespace, name: "moved" }, requirements: [], updates: append(21n, 1) }];
  expect(await statuses("POST", "transactions/commit", { "table-changes": changes })).toEqual([204, 204]);
  const rename = { source: { namespace, name: "moved" }, destination: { namespace, name: "arrived" } };
  expect(await statuses("POST", "tables/rename", rename)).toEqual([204, 204]);
  expect((await readTable(tables.call, tables, "arrived")).history.map(BigInt)).toEqual([21n]);
  expect(await statuses("DELETE", `${inDefault}/tables/dropped`)).toEqual([204, 204]);
});

test("a namespace is made, changed and dropped once", async () => {
  const [made, shown] = await twice("POST", "namespaces", { namespace: ["keyed"], properties: { a: "1" } });
  expect([made.status, shown.status]).toEqual([200, 200]);
  expect(shown.body).toEqual(made.body);
  const change = { removals: ["a"], updates: { b: "2" } };
  for (const { status, body } of await twice("POST", "namespaces/keyed/properties", change))
    expect([status, body]).toEqual([200, { updated: ["b"], removed: ["a"] }]);
  const dropped = await twice("DELETE", "namespaces/keyed");
  expect(dropped.map(({ status }) => status)).toEqual([204, 204]);
});

test("a refusal is not remembered: with what was missing there, the same key succeeds", async () => {
  const key = randomUUID();
  const create = { name: "late", schema };
  const refused = await twice("POST", "namespaces/notyet/tables", create, key);
  expect(refused.map(told)).toEqual(Array(2).fill([404, "NoSuchNamespaceException"]));
  await tables.call("POST", `${tables.catalog}/namespaces`, { namespace: ["notyet"] });
  const [made, again] = await twice("POST", "namespaces/notyet/tables", create, key);
  expect([made.status, again.status]).toEqual([200, 200]);
  expect(tableIn(again)).toEqual(tableIn(made));
});

test("of requests that arrive at once one has its effect", async () => {
  await tables.create("raced");
  const key = randomUUID();
  const body = { requirements: [], updates: append(31n, 1) };
  const replies = await Promise.all(
    [tables.call, other, tables.call, other].map((call) =>
      call("POST", `${tables.catalog}/${inDefault}/tables/raced`, body, { "idempotency-key": key }),
    ),
  );
  const succeeded = replies.filter(({ status }) => status === 200);
  expect(succeeded.length).toBeGreaterThan(0);
  // Who comes too late to be answered with the result is sent away to come again.
  for (const reply of replies) expect([200, 400, 409]).toContain(reply.status);
  expect((await readTable(other, tables, "raced")).history.map(BigInt)).toEqual([31n]);
});

test("without a key, or with another, a change is made again; what is no UUID is refused", async () => {
  const path = `${inDefault}/tables`;
  await tables.create("twice");
  const [first] = await twice("POST", path, { name: "twice", schema });
  expect(told(first)).toEqual([409, "AlreadyExistsException"]);
  const [empty] = await twice("POST", path, { name: "unkeyed", schema }, " ");
  expect(empty.status).toBe(200);
  const [wrong] = await twice("POST", path, { name: "wrong", schema }, "not-a-uuid");
  expect(told(wrong)).toEqual([400, "InvalidIdempotencyKey"]);
});
