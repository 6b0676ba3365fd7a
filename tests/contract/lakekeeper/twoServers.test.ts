import { type Client, clientOf } from "./client.ts";
import { expectSound, readTable } from "./history.ts";
import { type ServeProcess, serveProcess } from "./serveProcess.ts";
import { append, eventually, inDefault, startTableWorld, type TableWorld } from "./tableWorld.ts";

let tables: TableWorld;
let servers: ServeProcess[];
let clients: Client[];

beforeAll(async () => {
  tables = await startTableWorld();
  servers = await Promise.all([serveProcess(tables.settings), serveProcess(tables.settings)]);
  await Promise.all(servers.map((server) => server.start()));
  clients = servers.map((server) => clientOf(server.url));
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.end("SIGTERM")));
  await tables.close();
});

const rounds = 12;
const firstId = 4_611_686_018_427_387_904n;

test("of writers at two processes, each commit wins or is told that it lost, and the history is one line", async () => {
  await tables.create("shared");
  const path = `${tables.catalog}/${inDefault}/tables/shared`;
  const won: bigint[] = [];
  const answers: string[] = [];

  async function write(call: Client, writer: number): Promise<void> {
    for (let round = 0; round < rounds; round++) {
      const { history } = await readTable(call, tables, "shared");
      const parent = history.at(-1);
      const id = firstId + BigInt(writer * rounds + round);
      const requirements = [{ type: "assert-ref-snapshot-id", ref: "main", "snapshot-id": parent ?? null }];
      const updates = append(id, history.length + 1, parent);
      const { status, type } = await call("POST", path, { requirements, updates });
      answers.push(`${status} ${type ?? ""}`.trim());
      if (status === 200) won.push(id);
    }
  }
  await Promise.all([0, 1, 2, 3].map((writer) => write(clients[writer % 2]!, writer)));

  const lost = answers.filter((answer) => answer === "409 CatalogCommitConflicts").length;
  expect(answers.filter((answer) => answer === "200")).toHaveLength(won.length);
  expect(won.length + lost).toBe(4 * rounds);
  // Without a race nothing would have been shown.
  expect(lost).toBeGreaterThan(0);
  const [one, other] = await Promise.all(clients.map((call) => readTable(call, tables, "shared")));
  expect([...one!.history].sort()).toEqual(won.sort());
  expect(one).toEqual(other);
  await expectSound(one!, tables);
});

test("commits that demand nothing of each other all get in", async () => {
  await tables.create("additive");
  const path = `${tables.catalog}/${inDefault}/tables/additive`;
  const names = Array.from({ length: 24 }, (_, index) => `p${index}`);
  const statuses = await Promise.all(
    names.map(async (name, index) => {
      const updates = [{ action: "set-properties", updates: { [name]: "set" } }];
      return (await clients[index % 2]!("POST", path, { requirements: [], updates })).status;
    }),
  );
  expect(new Set(statuses)).toEqual(new Set([200]));
  const { metadata } = await readTable(clients[0]!, tables, "additive");
  expect(Object.keys(metadata["properties"] as object).sort()).toEqual(names.sort());
});

test("a table that both create at once is made once", async () => {
  const path = `${tables.catalog}/${inDefault}/tables`;
  const schema = { type: "struct", fields: [{ id: 1, name: "id", required: true, type: "long" }] };
  const replies = await Promise.all(clients.map((call) => call("POST", path, { name: "once", schema })));
  expect(replies.map(({ status, type }) => `${status} ${type ?? ""}`.trim()).sort()).toEqual([
    "200",
    "409 AlreadyExistsException",
  ]);
});

test("a warehouse that is deactivated at one is served by both for as long as they remember it", async () => {
  const id = await tables.makeWarehouse("remembered");
  const hasty = await tables.start({ LAKEKEEPER_STANDIN__STATE_CACHE_SECONDS: "4" });
  const status = async (call: Client): Promise<number> =>
    (await call("GET", "/catalog/v1/config?warehouse=remembered")).status;
  const everybody = [...clients, hasty];
  expect(await Promise.all(everybody.map(status))).toEqual([200, 200, 200]);
  await clients[0]!("POST", `/management/v1/warehouse/${id}/deactivate`, {});
  // Two of them for a minute, the third for four seconds.
  expect(await Promise.all(everybody.map(status))).toEqual([200, 200, 200]);
  await eventually(async () => (await status(hasty)) === 404);
  expect(await Promise.all(everybody.map(status))).toEqual([200, 200, 404]);
  // It works the other way round, too: what was found to be inactive is not looked at again at once.
  await clients[0]!("POST", `/management/v1/warehouse/${id}/activate`, {});
  expect(await status(hasty)).toBe(404);
  await eventually(async () => (await status(hasty)) === 200);
});

test("properties of a namespace that both change at once are all kept", async () => {
  const path = `${tables.catalog}/${inDefault}`;
  const names = Array.from({ length: 24 }, (_, index) => `p${index}`);
  await Promise.all(
    names.map((name, index) => clients[index % 2]!("POST", `${path}/properties`, { updates: { [name]: "set" } })),
  );
  const { body } = await clients[0]!("GET", path);
  expect(Object.keys((body as { properties: object }).properties)).toEqual(expect.arrayContaining(names));
});
