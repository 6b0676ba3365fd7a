import type { Json } from "../../../emulators/lakekeeper/http/json.ts";
import { bucketOf, type Client, clientOf, type Reply } from "./client.ts";
import { expectSound, readTable, type SnapshotId } from "./history.ts";
import { type ServeProcess, serveProcess } from "./serveProcess.ts";
import { append, eventually, inDefault, startTableWorld, type TableWorld } from "./tableWorld.ts";

// A server that is killed with SIGKILL while it commits, and started again on the same database.

let tables: TableWorld;
beforeAll(async () => {
  tables = await startTableWorld();
});
afterAll(() => tables.close());
afterEach(() => tables.world.r2Faults.clear());

async function withServer(
  more: Record<string, string>,
  work: (server: ServeProcess, call: Client) => Promise<void>,
): Promise<void> {
  const server = await serveProcess({ ...tables.settings, ...more });
  await server.start();
  try {
    await work(server, clientOf(server.url));
  } finally {
    await server.end("SIGKILL");
  }
}

const pathOf = (name: string): string => `${tables.catalog}/${inDefault}/tables/${name}`;

/** One commit with two parts, of which there must never be one without the other: a snapshot, and a property of its name. */
function commitOf(id: bigint, history: readonly SnapshotId[]): { requirements: Json[]; updates: Json[] } {
  const parent = history.at(-1);
  return {
    requirements: [{ type: "assert-ref-snapshot-id", ref: "main", "snapshot-id": parent ?? null }],
    updates: [
      ...append(id, history.length + 1, parent),
      { action: "set-properties", updates: { [`commit-${id}`]: "whole" } },
    ],
  };
}

/** What a writer knows of its commits. */
interface Tries {
  readonly acknowledged: bigint[];
  readonly unacknowledged: bigint[];
}

/** Expects every acknowledged commit in the table, and nothing but whole commits that were tried. */
async function expectNothingLost(call: Client, name: string, { acknowledged, unacknowledged }: Tries): Promise<void> {
  const table = await readTable(call, tables, name);
  await expectSound(table, tables);
  const history = table.history.map(BigInt);
  expect(acknowledged.filter((id) => !history.includes(id))).toEqual([]);
  expect(history.filter((id) => !acknowledged.includes(id) && !unacknowledged.includes(id))).toEqual([]);
  const properties = Object.keys((table.metadata["properties"] ?? {}) as object);
  expect(properties.sort()).toEqual(history.map((id) => `commit-${id}`).sort());
}

const kills = 6;

test("at random moments, it has lost no commit that it acknowledged, and made none by half", async () => {
  const names = ["killed1", "killed2", "killed3", "killed4"];
  // The last two change together, in one transaction.
  const targets = [["killed1"], ["killed2"], ["killed3", "killed4"]];
  for (const name of names) await tables.create(name);
  await withServer({}, async (server, call) => {
    let over = false;
    const statuses = new Set<number>();
    let serial = 5_000_000_000_000_000_000n;

    async function write(target: string[]): Promise<Tries> {
      const tries: Tries = { acknowledged: [], unacknowledged: [] };
      while (!over) {
        const before = await readTable(call, tables, target[0]!).catch(() => undefined);
        if (before === undefined) continue;
        const id = ++serial;
        const commit = commitOf(id, before.history);
        const changes = target.map((name) => ({ identifier: { namespace: ["main", "default"], name }, ...commit }));
        const reply = await (
          target.length === 1
            ? call("POST", pathOf(target[0]!), commit)
            : call("POST", `${tables.catalog}/transactions/commit`, { "table-changes": changes })
        ).catch(() => undefined);
        if (reply !== undefined) statuses.add(reply.status);
        (reply === undefined ? tries.unacknowledged : tries.acknowledged).push(id);
      }
      return tries;
    }
    const writers = Promise.all(targets.map(write));
    for (let kill = 0; kill < kills; kill++) {
      await new Promise((resolve) => setTimeout(resolve, 100 + Math.random() * 400));
      await server.end("SIGKILL");
      await server.start();
    }
    over = true;
    const tries = await writers;
    // Nobody else writes these tables, so that nothing can be refused.
    expect([...statuses].sort()).toEqual([200, 204]);
    for (const [index, target] of targets.entries())
      for (const name of target) await expectNothingLost(call, name, tries[index]!);
    const [one, other] = await Promise.all(["killed3", "killed4"].map((name) => readTable(call, tables, name)));
    expect(one!.history).toEqual(other!.history);
    // The kills did come while commits were under way, and there were commits between them.
    expect(tries.flatMap(({ unacknowledged }) => unacknowledged).length).toBeGreaterThanOrEqual(kills / 2);
    expect(tries.flatMap(({ acknowledged }) => acknowledged).length).toBeGreaterThan(kills * targets.length);
  });
}, 600_000);

/** Sends a commit that will never be answered, kills the server once `reached`, and starts it again. */
async function killWhen(reached: () => Promise<boolean>, server: ServeProcess, send: () => Promise<Reply>) {
  const outcome = send().then(
    ({ status }) => status,
    () => "no answer",
  );
  await eventually(reached);
  await server.end("SIGKILL");
  expect(await outcome).toBe("no answer");
  await server.start();
}

test("between the new metadata file and the pointer to it, the commit has not happened and can be made again", async () => {
  await tables.create("early");
  const before = await readTable(tables.call, tables, "early");
  await withServer({}, async (server, call) => {
    const commit = commitOf(7n, []);
    const { r2Faults } = tables.world;
    r2Faults.add("PUT */metadata/*, after, delay 60000");
    const folder = before.metadataLocation.replace(/[^/]*$/, "");
    const written = async (): Promise<boolean> => (await bucketOf(tables.world).list(folder)).length === 2;
    await killWhen(written, server, () => call("POST", pathOf("early"), commit));
    r2Faults.clear();
    expect(await readTable(call, tables, "early")).toEqual(before);
    expect((await call("POST", pathOf("early"), commit)).status).toBe(200);
    await expectNothingLost(call, "early", { acknowledged: [7n], unacknowledged: [] });
  });
});

test("between the pointer and the answer, the commit has happened", async () => {
  await tables.create("late");
  const fault = "POST */tables/late, after, delay 60000, first 1";
  await withServer({ LAKEKEEPER_STANDIN__FAULT: fault }, async (server, call) => {
    const happened = async (): Promise<boolean> => (await readTable(call, tables, "late")).history.length === 1;
    await killWhen(happened, server, () => call("POST", pathOf("late"), commitOf(7n, [])));
    await expectNothingLost(call, "late", { acknowledged: [7n], unacknowledged: [] });
  });
});
