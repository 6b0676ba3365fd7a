import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { stopAll as stopContainers } from "../emulators/railway/runtime/index.ts";
import { stopAll } from "../platforms/local/processes.ts";
import { command } from "./command.ts";
import { endLeftovers, endRuns } from "./leftovers.ts";
import { checkout } from "./stack.ts";

/** Stops what a stack of this machine has left running, whatever the engine knows of it. */
export async function sweep(stackName: string): Promise<void> {
  await endLeftovers(checkout, stackName);
  const state = join(checkout, ".state", stackName);
  const containers = await stopContainers(join(state, "railway", "containers"));
  const stopped = [...(await stopAll(state)), ...(containers > 0 ? [`${containers} containers`] : [])];
  if (stopped.length > 0) process.stdout.write(`Stopped what was still running: ${stopped.join(", ")}\n`);
}

if (import.meta.main) {
  await command(async () => {
    await endRuns(checkout);
    const state = join(checkout, ".state");
    for (const stackName of existsSync(state) ? readdirSync(state) : []) await sweep(stackName);
  });
}
