import { UserError } from "../clients/errors.ts";
import { EngineFailed } from "./stack.ts";

/** Runs a command's body; a failure becomes the exit code, with words for a person unless the engine has used its own. */
export async function command(body: () => Promise<void>): Promise<void> {
  // Whoever read this, as `head` does, has read enough.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
  try {
    await body();
  } catch (error) {
    if (error instanceof EngineFailed) {
      process.exitCode = error.code;
    } else {
      process.stderr.write(`${error instanceof UserError ? `error: ${error.message}` : describe(error)}\n`);
      process.exitCode = 1;
    }
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
