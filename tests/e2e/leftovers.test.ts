import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { Checkout } from "../support/checkout.ts";
import { holdBack, letGo, makeSlowCheckout, processesOf, upInTheMiddle } from "../support/slowProgram.ts";

// Whatever becomes of a command, nothing of its engine stays behind, and nobody else's engine is touched.

let checkout: Checkout;
let other: Checkout;

beforeAll(async () => {
  [checkout, other] = await Promise.all([makeSlowCheckout(), makeSlowCheckout()]);
});

afterAll(async () => {
  for (const pid of [checkout, other].flatMap(processesOf)) process.kill(pid, "SIGKILL");
  await Promise.all([checkout.remove(), other.remove()]);
});

/** From `/proc/<pid>/status`. */
function parentOf(pid: number): number {
  return Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]);
}

/** `make`, of whose output nobody reads on after `enough`. */
async function makeUntil(target: string, enough: RegExp): Promise<void> {
  const child = spawn("make", ["--silent", target], { cwd: checkout.directory, stdio: ["ignore", "pipe", "ignore"] });
  const closed = once(child, "exit");
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    if (enough.test(output)) child.stdout.destroy();
  });
  await closed;
  expect(output).toMatch(enough);
}

test.each([
  ["preview", /Previewing/],
  ["up", /Updating/],
])(
  "`make %s | head` leaves nothing running",
  async (target, enough) => {
    await makeUntil(target, enough);
    expect(processesOf(checkout)).toEqual([]);
  },
  600_000,
);

test("a command that is told to end ends its engine in order", async () => {
  const { result } = await upInTheMiddle(checkout);
  const wrapper = parentOf(checkout.enginePid()!);
  process.kill(wrapper, "SIGTERM");
  letGo(checkout);
  expect((await result).code).not.toBe(0);
  expect(processesOf(checkout)).toEqual([]);
}, 600_000);

test("the next command ends what is left when everything was killed, and leaves another checkout's run alone", async () => {
  const running = await upInTheMiddle(other);
  const others = processesOf(other);
  expect(others.length).toBeGreaterThanOrEqual(3);

  await checkout.mustMake("down");
  holdBack(checkout);
  const { result } = await upInTheMiddle(checkout);
  const engine = checkout.enginePid()!;
  // The command itself first, so that it cannot clear up.
  process.kill(parentOf(engine), "SIGKILL");
  process.kill(engine, "SIGKILL");
  await result.catch(() => undefined);
  expect(processesOf(checkout)).not.toEqual([]);

  await checkout.mustMake("preview");
  expect(processesOf(checkout)).toEqual([]);
  await checkout.mustMake("down");
  await checkout.mustMake("clean", { FORCE: "1" });
  await checkout.linkPackages();

  expect(processesOf(other)).toEqual(others);
  letGo(other);
  expect((await running.result).code).toBe(0);
}, 600_000);

test("down and clean end what is left as well", async () => {
  for (const [target, variables] of [
    ["down", {}],
    ["clean", { FORCE: "1" }],
  ] as const) {
    const { result } = await upInTheMiddle(checkout);
    const engine = checkout.enginePid()!;
    process.kill(parentOf(engine), "SIGKILL");
    process.kill(engine, "SIGKILL");
    await result;
    expect(processesOf(checkout)).not.toEqual([]);
    await checkout.mustMake(target, variables);
    expect(processesOf(checkout)).toEqual([]);
  }
}, 600_000);
