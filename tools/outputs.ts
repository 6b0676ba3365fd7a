import { z } from "zod";
import { UserError } from "../clients/errors.ts";
import { requireReachable } from "./reachable.ts";
import { run } from "./run.ts";
import { checkout, exists, upCommand, type Stack } from "./stack.ts";

/**
 * The outputs of a stack; a secret one is the string "[secret]" unless `showSecrets`.
 *
 * @throws UserError that says to run `make up` when one of `wanted` is not there.
 */
export async function stackOutputs<Name extends string>(
  stack: Stack,
  wanted: readonly Name[],
  showSecrets: boolean,
): Promise<Record<Name, unknown>> {
  await requireUp(stack);
  const options = ["--stack", stack.name, "--json", ...(showSecrets ? ["--show-secrets"] : [])];
  const printed = await run("pulumi", ["stack", "output", ...options], { cwd: checkout, env: stack.environment });
  const outputs = z.record(z.string(), z.unknown()).parse(JSON.parse(printed));
  if (wanted.some((name) => outputs[name] === undefined)) throw notUp(stack);
  return outputs;
}

/** @throws UserError when the stack is certainly not up, or cannot be reached. */
export async function requireUp(stack: Stack): Promise<void> {
  if (!stack.isolated) await requireReachable(stack);
  else if (!exists(stack)) throw notUp(stack);
}

export function notUp(stack: Stack): UserError {
  return new UserError(`The stack ${stack.name} is not up yet: run ${upCommand(stack)} first.`);
}
