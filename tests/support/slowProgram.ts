import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeCheckout, type Checkout, type Running } from "./checkout.ts";

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
const LAKEHOUSE_REST_VENDING = "0", lakekeeperRuntime = "none", cutover = "sql", verification = { verifiedAt: "2026-01-02T03:04:05.000Z", checks: [] };
export {
  LAKEHOUSE_CATALOG_TYPE, LAKEHOUSE_REST_URI, LAKEHOUSE_REST_WAREHOUSE, LAKEHOUSE_CATALOG_TOKEN,
  LAKEHOUSE_REST_VENDING, lakekeeperRuntime, cutover, verification,
};
`;

/**
 * A checkout whose program is one resource, the creation of which waits until it is let go: for trying how the commands
 * keep an isolated stack, whatever is on it.
 */
export async function makeSlowCheckout(): Promise<Checkout> {
  const checkout = await makeCheckout();
  writeFileSync(join(checkout.directory, "index.ts"), program);
  return checkout;
}

/** From now on the resource is created at once. */
export function letGo(checkout: Checkout): void {
  writeFileSync(join(checkout.directory, "go-on"), "");
}

/** From now on it waits again. */
export function holdBack(checkout: Checkout): void {
  rmSync(join(checkout.directory, "go-on"));
}

/** A `make up` that has come to the resource. */
export async function upInTheMiddle(checkout: Checkout): Promise<Running> {
  const running = checkout.start("up");
  await running.until((output) => /dynamic:Resource slow creating/.test(output));
  return running;
}

/** Pids of the engine and all that it has started for the checkout, by the engine's home in their environment. */
export function processesOf(checkout: Checkout): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, "utf8").includes(`PULUMI_HOME=${checkout.directory}/.state/`);
      } catch {
        return false;
      }
    })
    .map(Number);
}
