import { parseArgs } from "node:util";

/** A stand-in that runs. */
interface Running {
  close(): Promise<void>;
}

/**
 * What `node emulators/<name>/main.ts serve` does: starts a server, says on one line that it is ready, and ends it in an
 * orderly way when it is told to end.
 *
 * @param name for messages
 * @param start resolves to the server and what is told of it beside `ready`
 */
export async function serveFromCommandLine(
  name: string,
  help: string,
  start: () => Promise<{ server: Running; ready: object }>,
): Promise<void> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { help: { type: "boolean", short: "h" } },
  });
  if (values.help) {
    process.stdout.write(help);
    return;
  }
  if (positionals.length !== 1 || positionals[0] !== "serve") {
    process.stderr.write(help);
    process.exitCode = 2;
    return;
  }
  try {
    const { server, ready } = await start();
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      process.once(signal, () => void server.close().then(() => process.exit(0)));
    }
    process.stdout.write(`${JSON.stringify({ ready: true, ...ready })}\n`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`The ${name} emulator could not start: ${reason}\n`);
    process.exit(1);
  }
}

/** A variable without which the server cannot be started. */
export function required(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === "") {
    process.stderr.write(`${name} is not set; see --help.\n`);
    process.exit(2);
  }
  return value;
}
