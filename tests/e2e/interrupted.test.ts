import { spawn } from "node:child_process";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Checkout, makeCheckout } from "../support/checkout.ts";

// A program of one resource, whose creation waits for a file, stands in for ours: what is tried is how the commands keep
// an isolated stack, not what is on it.
const program = `
import * as pulumi from "@pulumi/pulumi";

const create = async () => {
  const { existsSync } = require("node:fs");
  const { setTimeout: delay } = require("node:timers/promises");
  while (!existsSync("go-on")) await delay(50);
  return { id: "one", outs: { kept: "s3cret" } };
};
class Slow extends pulumi.dynamic.Resource {}
export const one = new Slow({ create }, "slow", { kept: undefined }, { additionalSecretOutputs: ["kept"] });

// What \`make up\` tells at its end.
const LAKEHOUSE_CATALOG_TYPE = "rest", LAKEHOUSE_REST_URI = "", LAKEHOUSE_REST_WAREHOUSE = "", LAKEHOUSE_CATALOG_TOKEN = "";
const LAKEHOUSE_REST_VENDING = "0", lakekeeperRuntime = "none", cutover = "sql", verification = { checks: [] };
export {
  LAKEHOUSE_CATALOG_TYPE, LAKEHOUSE_REST_URI, LAKEHOUSE_REST_WAREHOUSE, LAKEHOUSE_CATALOG_TOKEN,
  LAKEHOUSE_REST_VENDING, lakekeeperRuntime, cutover, verification,
};
`;

let checkout: Checkout;

beforeAll(async () => {
  checkout = await makeCheckout();
  writeFileSync(join(checkout.directory, "index.ts"), program);
});

afterAll(async () => {
  await checkout.remove();
});

async function locks(): Promise<{ pid: number }[]> {
  const folder = ".state/pulumi/backend/.pulumi/locks/organization/lakekeeper/local";
  const files = readdirSync(join(checkout.directory, folder)).filter((file) => file.endsWith(".json"));
  return Promise.all(files.map(async (file) => JSON.parse(await checkout.read(join(folder, file))) as { pid: number }));
}

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
}, 60_000);

test("a run that was killed stops no later one, and a run that goes on is left alone", async () => {
  const killed = spawn("make", ["--silent", "up"], { cwd: checkout.directory, stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise((resolve) => killed.once("close", resolve));
  await new Promise<void>((resolve) => {
    let output = "";
    killed.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      if (/dynamic:Resource slow creating/.test(output)) resolve();
    });
  });
  const refused = await checkout.make("refresh");
  expect(refused.code).not.toBe(0);
  expect(refused.output).toContain("currently locked by 1 lock");

  const [lock] = await locks();
  process.kill(lock!.pid, "SIGKILL");
  writeFileSync(join(checkout.directory, "go-on"), "");
  await ended;
  expect(await locks()).toHaveLength(1);

  const { output } = await checkout.mustMake("refresh");
  expect(output).toContain("An earlier run on the stack local was killed");
  expect(await locks()).toEqual([]);
  expect(await checkout.engine("stack", "export")).not.toContain("pending_operations");
  await checkout.mustMake("up");
  expect((await checkout.mustMake("down")).output).toContain("Nothing of the stack local is running");
}, 120_000);

test("clean keeps what would be lost, and removes it when forced", async () => {
  await checkout.mustMake("up");
  const refused = await checkout.make("clean");
  expect(refused.code).not.toBe(0);
  expect(refused.output).toContain("resources of a stack that is up: `make down` removes them");
  await checkout.mustMake("clean", { FORCE: "1" });
  expect(readdirSync(checkout.directory)).not.toContain(".state");
}, 60_000);
