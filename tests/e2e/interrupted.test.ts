import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Checkout, makeCheckout } from "../support/checkout.ts";
import { letGo, makeSlowCheckout, processesOf, upInTheMiddle } from "../support/slowProgram.ts";

const LOCKS = ".state/pulumi/backend/.pulumi/locks/organization/lakekeeper/local";
const STATE = ".state/pulumi/backend/.pulumi/stacks/lakekeeper/local.json";

let checkout: Checkout;

beforeAll(async () => {
  checkout = await makeSlowCheckout();
});

afterAll(async () => {
  for (const pid of processesOf(checkout)) process.kill(pid, "SIGKILL");
  await checkout.remove();
});

test("an isolated stack keeps its passphrase to itself and leaves the tracked settings alone", async () => {
  const tracked = await checkout.read("Pulumi.local.yaml");
  await checkout.mustMake("preview");
  const salt = /^encryptionsalt: .+$/m;
  const copy = await checkout.read(".state/pulumi/project/Pulumi.local.yaml");
  expect(copy).toMatch(salt);
  expect(copy.replace(salt, "").trim()).toBe(tracked.trim());
  expect(await checkout.read("Pulumi.local.yaml")).toBe(tracked);
  expect(statSync(join(checkout.directory, ".state/pulumi/passphrase")).mode & 0o777).toBe(0o600);

  // Once made, both stay: secrets in the state are read with them.
  await checkout.mustMake("preview");
  expect(await checkout.read(".state/pulumi/project/Pulumi.local.yaml")).toBe(copy);
}, 600_000);

test("a second command while one runs says so and leaves it alone; one that is killed leaves no process", async () => {
  const first = await upInTheMiddle(checkout);
  const pid = checkout.enginePid()!;
  const running = processesOf(checkout);
  expect(running.length).toBeGreaterThanOrEqual(3);
  for (const target of ["up", "refresh", "down"]) {
    const refused = await checkout.make(target);
    expect(refused.code).not.toBe(0);
    expect(refused.output).toContain(
      `error: Another command is changing the stack local (pulumi, process ${pid}). Wait until it has ended`,
    );
  }
  // Looking is allowed meanwhile.
  await checkout.mustMake("preview");
  expect(processesOf(checkout)).toEqual(running);

  process.kill(pid, "SIGKILL");
  expect((await first.result).code).not.toBe(0);
  expect(processesOf(checkout)).toEqual([]);
  letGo(checkout);
  expect(readdirSync(join(checkout.directory, LOCKS)).filter((file) => file.endsWith(".json"))).toHaveLength(1);

  const { output } = await checkout.mustMake("refresh");
  expect(output).toContain("An earlier run on the stack local was killed");
  expect(readdirSync(join(checkout.directory, LOCKS)).filter((file) => file.endsWith(".json"))).toEqual([]);
  expect(await checkout.engine("stack", "export")).not.toContain("pending_operations");
  await checkout.mustMake("up");
  expect((await checkout.mustMake("down")).output).toContain("Nothing of the stack local is running");
}, 600_000);

test("two commands that begin together do not break each other", async () => {
  rmSync(join(checkout.directory, ".state"), { recursive: true });
  const results = await Promise.all([checkout.make("up"), checkout.make("up"), checkout.make("preview")]);
  const failed = results.filter(({ code }) => code !== 0);
  for (const { output } of failed) expect(output).toContain("Another command is changing the stack local");
  expect(failed.length).toBeLessThanOrEqual(1);
  const { output } = await checkout.mustMake("up");
  expect(output).toContain("unchanged");
  // The report of such a run is an earlier one's.
  expect(output).toContain("; verified at 2026-01-02T03:04:05.000Z");
}, 600_000);

test("what a killed run was doing is forgotten also when its lock is gone", async () => {
  const file = join(checkout.directory, STATE);
  const state = JSON.parse(readFileSync(file, "utf8")) as {
    checkpoint: { latest: { resources: object[]; pending_operations?: object[] } };
  };
  const { latest } = state.checkpoint;
  latest.pending_operations = [{ resource: latest.resources.at(-1)!, type: "creating" }];
  writeFileSync(file, JSON.stringify(state));
  const { output } = await checkout.mustMake("up");
  expect(output).toContain("An earlier run on the stack local was killed");
  expect((await checkout.mustMake("up")).output).not.toMatch(/killed|interrupted|pending/);
}, 600_000);

test.each([
  ["nothing", undefined],
  ["half of it", '{"version": 3, "checkpoint": {"latest": {"resou'],
])(
  "a run that was killed while it wrote the state is recovered from, with %s written",
  async (_what, written) => {
    const file = join(checkout.directory, STATE);
    renameSync(file, `${file}.bak`);
    if (written !== undefined) writeFileSync(file, written);
    const lock = { pid: 2 ** 30, username: "", hostname: "", timestamp: "2026-01-01T00:00:00Z" };
    writeFileSync(join(checkout.directory, LOCKS, "0c6f0b2e-0000-4000-8000-000000000000.json"), JSON.stringify(lock));
    const { output } = await checkout.mustMake("up");
    expect(output).toContain("An earlier run on the stack local was killed");
    expect(output).toContain("unchanged");
    expect(output).not.toContain("created");
  },
  600_000,
);

test("a refresh does not print the outputs", async () => {
  expect((await checkout.mustMake("refresh")).output).not.toContain("LAKEHOUSE_");
}, 600_000);

test("clean keeps what would be lost, says what that is, and removes it when forced", async () => {
  const refused = await checkout.make("clean");
  expect(refused.code).not.toBe(0);
  expect(refused.output).toContain("The stack local is up. `make down` takes it away");
  await checkout.mustMake("down");
  const bucket = join(checkout.state, "r2", "lakehouse");
  mkdirSync(bucket, { recursive: true });
  writeFileSync(join(bucket, "table.parquet"), "a row");
  const { code, output } = await checkout.make("clean");
  expect(code).not.toBe(0);
  expect(output).toMatch(
    /\.state\/local\/r2 holds the local bucket: \S+ of tables' files.*`make clean FORCE=1` removes/,
  );
  await checkout.mustMake("clean", { FORCE: "1" });
  expect(readdirSync(checkout.directory)).not.toContain(".state");
}, 600_000);

test("without a login, a command on a stack of one's own says what to do", async () => {
  const fresh = await makeCheckout();
  try {
    const login = { PULUMI_HOME: join(fresh.directory, "home"), PULUMI_ACCESS_TOKEN: "", PULUMI_BACKEND_URL: "" };
    for (const target of ["preview", "up", "env", "doctor"]) {
      const { code, output } = await fresh.make(target, { STACK: "dev", ...login });
      expect(code).not.toBe(0);
      const said = output.split("\n").filter((line) => line.startsWith("error:"));
      expect(said).toHaveLength(1);
      expect(said[0]).toMatch(/Pulumi has no stack dev for you .*`pulumi login`.*`pulumi stack init dev`.*EMULATED=1/);
    }
  } finally {
    await fresh.remove();
  }
}, 600_000);
