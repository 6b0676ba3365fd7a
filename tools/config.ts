/** `make config`: what the stack STACK still needs to be told, where that is found, and the command that sets it. */
import { z } from "zod";
import { withEmulatedAccounts } from "../config.emulated.ts";
import { requirements } from "../config.required.ts";
import { command } from "./command.ts";
import { ready } from "./ready.ts";
import { requireReachable } from "./reachable.ts";
import { run } from "./run.ts";
import { checkout, currentStack, stackArguments, type Stack } from "./stack.ts";

const printedSchema = z.record(z.string(), z.object({ value: z.string().optional() }));

await command(async () => {
  const stack = await currentStack();
  await (stack.isolated ? ready(stack) : requireReachable(stack));
  const needed = requirements(
    withEmulatedAccounts(await settings(stack), stack.environment),
    stack.name === "local" ? "tools/pulumi config set" : `pulumi config set --stack ${stack.name}`,
    stack.environment,
  );
  const missing = needed.filter(({ isSet }) => !isSet);
  for (const { setting, isSet, what } of needed) {
    process.stdout.write(`${isSet ? "set     " : "MISSING "} ${setting}: ${what}\n`);
  }
  for (const { setting, where, command: set } of missing) {
    process.stdout.write(`\n${setting}\n  found at: ${where}\n  set with: ${set}\n`);
  }
  if (missing.length === 0) process.stdout.write(`The stack ${stack.name} has every setting that it needs.\n`);
  else process.exitCode = 1;
});

/** Secrets are read, to see which fields of an object are there, and never printed. */
async function settings(stack: Stack): Promise<Record<string, string>> {
  const options = ["config", "--json", "--show-secrets", ...stackArguments(stack)];
  const printed = await run("pulumi", options, { cwd: checkout, env: stack.environment });
  const entries = Object.entries(printedSchema.parse(JSON.parse(printed)));
  return Object.fromEntries(entries.flatMap(([key, { value }]) => (value === undefined ? [] : [[key, value]])));
}
