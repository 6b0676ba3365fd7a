import { UserError } from "../clients/errors.ts";
import { run } from "./run.ts";
import { checkout, type Stack } from "./stack.ts";

/**
 * Makes sure that the operator is logged in to a backend that has the stack, before the engine asks for it in words
 * that do not say how.
 *
 * @throws UserError with the remedies
 */
export async function requireReachable(stack: Stack): Promise<void> {
  const show = ["stack", "--show-name", "--non-interactive", "--stack", stack.name];
  try {
    await run("pulumi", show, { cwd: checkout, env: stack.environment });
  } catch (error) {
    const said = (error as Error).message
      .trimEnd()
      .split("\n")
      .at(-1)!
      .replace(/^error: /, "");
    throw new UserError(
      `Pulumi has no stack ${stack.name} for you (${said}): log in with \`pulumi login\` and make it with ` +
        `\`pulumi stack init ${stack.name}\`, or add EMULATED=1 to try it on this machine without an account.`,
      { cause: error },
    );
  }
}
