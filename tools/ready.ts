import { join } from "node:path";
import { UserError } from "../clients/errors.ts";
import { tryLock, withLock } from "../platforms/local/lock.ts";
import { emulatedAccounts } from "./accounts.ts";
import { liveEngine, recover, restoreState } from "./interrupted.ts";
import { endLeftovers } from "./leftovers.ts";
import { checkout, home, prepare, type Stack } from "./stack.ts";

/** Brings an isolated stack to where the engine can work on it, whatever an earlier run has left, with accounts to work on. */
export async function ready(stack: Stack): Promise<void> {
  await withLock(join(home, "preparation"), async () => {
    await restoreState(stack);
    // One that is being changed has been made, though its state may be missing for a moment.
    await prepare(stack, (await liveEngine(stack)) === undefined);
    await endLeftovers(checkout, stack.name);
    await recover(stack);
    if (stack.name !== "local") Object.assign(stack.environment, await emulatedAccounts(stack));
  });
}

/**
 * Runs `work` unless another command of this checkout is changing the isolated stack.
 *
 * @throws UserError when one is; it is left alone
 */
export async function alone(stack: Stack, work: () => Promise<void>): Promise<void> {
  const release = await tryLock(join(home, "changing", stack.name));
  const engine = await liveEngine(stack);
  if (release === undefined || engine !== undefined) {
    await release?.();
    const which = engine === undefined ? "" : ` (pulumi, process ${engine})`;
    throw new UserError(
      `Another command is changing the stack ${stack.name}${which}. Wait until it has ended, then run this one again.`,
    );
  }
  try {
    await work();
  } finally {
    await release();
  }
}
