import { existsSync, readFileSync, readdirSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { hasExited, startTimeOf } from "../../platforms/local/processId.ts";
import { readRecord, recordFile } from "../../platforms/local/records.ts";
import { makeCheckout, resourceCounts, type Checkout } from "../support/checkout.ts";
import { countTables, doctorInputs, pointersInCatalog, type Doctor } from "../support/liveStack.ts";
import { OwnSqlCatalog } from "../support/ownSqlCatalog.ts";

// A newcomer's first `make up`, cut off again and again: each run goes on from where the one before it was killed.

const FIRST_TABLE = "main.default.t000";

let checkout: Checkout;
/** The stack's own SqlCatalog, which begins with one table. */
let catalog: OwnSqlCatalog;
let pointers: Record<string, string>;
/** Processes of killed engines. They notice by themselves, though only after minutes. */
const orphans: number[] = [];
/** Whether the last run was cut off with the engine, which leaves its lock. */
let locked = false;

beforeAll(async () => {
  checkout = await makeCheckout();
  await mkdir(checkout.state, { recursive: true });
  catalog = await OwnSqlCatalog.at(join(checkout.state, "catalog.db"));
  pointers = await catalog.pointers();
  for (const table of Object.keys(pointers)) if (table !== FIRST_TABLE) catalog.point(table, undefined);
  // One after the other, so that there is a middle to be killed in.
  await checkout.configure({ "lakekeeper:registrationConcurrency": 1 });
});

afterAll(async () => {
  for (const pid of orphans) if ((await startTimeOf(pid)) !== undefined) process.kill(pid, "SIGKILL");
  await checkout.remove();
});

async function kill(pid: number): Promise<void> {
  const startTime = (await startTimeOf(pid)) ?? "";
  process.kill(pid, "SIGKILL");
  expect(await hasExited({ pid, startTime }, 10_000)).toBe(true);
}

/** The engine that holds the stack's lock. */
async function engine(): Promise<void> {
  const pid = checkout.enginePid()!;
  // Each thread knows the children that it has started itself.
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const children = readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean);
    orphans.push(...children.map(Number));
  }
  await kill(pid);
}

const server = (name: string) => async (): Promise<void> => {
  await kill((await readRecord(checkout.state, name))!.pid);
};

const says = (text: string) => (output: string) => output.includes(text);

/** A run after one whose engine was killed says so. */
function expectRecovery(output: string): void {
  expect(output.includes("An earlier run on the stack local was killed: clearing up after it.")).toBe(locked);
  locked = false;
}

/** Kills in the middle of `make up` and gives what was printed. */
async function upKilled(
  moment: (output: string) => boolean | Promise<boolean>,
  strike: () => Promise<void>,
): Promise<string> {
  const run = checkout.start("up");
  await run.until(moment);
  await strike();
  const { code, output } = await run.result;
  expect(code).not.toBe(0);
  expectRecovery(output);
  locked = strike === engine;
  return output;
}

test.each<[string, (output: string) => boolean, () => Promise<void>, string]>([
  ["the engine when ports are chosen", says("local:Ports ports creating"), engine, "Ports ports creating"],
  [
    "the engine while Postgres makes its data",
    () => existsSync(join(checkout.state, "postgres", "PG_VERSION")),
    engine,
    "PostgresCluster postgres creating",
  ],
  [
    "the object store while the sample is uploaded",
    says("SampleLakehouse r2-sample creating"),
    server("r2"),
    "Check that it runs",
  ],
  [
    "Lakekeeper as soon as it is recorded",
    () => existsSync(recordFile(checkout.state, "lakekeeper")),
    server("lakekeeper"),
    "lakekeeper ended with signal SIGKILL. Its log is .state/local/logs/lakekeeper.log",
  ],
  [
    "Postgres while the warehouse is made",
    says("dynamic/lakekeeper:Warehouse warehouse creating"),
    server("postgres"),
    "Lakekeeper cannot use its database",
  ],
  [
    "the engine while the catalog is verified",
    says("dynamic/lakekeeper:Verification verification creating"),
    engine,
    "Tables registration created",
  ],
])(
  "%s is killed, and the next up goes on",
  async (_name, moment, strike, said) => {
    expect(await upKilled(moment, strike)).toContain(said);
  },
  600_000,
);

test("then up finishes", async () => {
  expectRecovery((await checkout.mustMake("up")).output);
  expect(Object.keys(await pointersInCatalog(await doctorInputs(checkout)))).toEqual([FIRST_TABLE]);
}, 600_000);

describe("83 more tables", () => {
  let doctor: Doctor;

  /** Tables are being registered, and so many are. */
  const tablesInCatalog =
    (count: number) =>
    async (output: string): Promise<boolean> =>
      output.includes("lakekeeper:Tables registration updating") && (await countTables(doctor)) >= count;

  beforeAll(async () => {
    doctor = await doctorInputs(checkout);
    for (const [table, pointer] of Object.entries(pointers)) catalog.point(table, pointer);
  });

  test("Lakekeeper is killed while they are registered, which keeps those that were", async () => {
    const output = await upKilled(tablesInCatalog(10), server("lakekeeper"));
    expect(output).toContain("Check that it runs");
    const [, left, registered] =
      /(\d+) of 83 tables were not reached[^]*?(\d+) tables are registered/.exec(output) ?? [];
    expect(Number(registered)).toBeGreaterThanOrEqual(10);
    expect(Number(registered)).toBe(84 - Number(left));
  }, 600_000);

  test("the engine is killed while they are registered", async () => {
    await upKilled(tablesInCatalog(40), engine);
  }, 600_000);

  test("then up finishes with every table, the doctor is content and nothing is left to do", async () => {
    expectRecovery((await checkout.mustMake("up")).output);
    expect(Object.keys(pointers)).toHaveLength(84);
    expect(await pointersInCatalog(doctor)).toEqual(pointers);
    expect((await checkout.mustMake("doctor")).output).not.toContain("FAILED");
    expect(Object.keys(resourceCounts((await checkout.mustMake("up")).output))).toEqual(["unchanged"]);
  }, 600_000);
});
