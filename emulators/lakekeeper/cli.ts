import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import { version } from "./catalog.ts";
import { runMigrate, runReopenBootstrap, runWaitForDatabase } from "./commands/database.ts";
import { runHealthcheck } from "./commands/healthcheck.ts";
import { log } from "./log.ts";
import { serve } from "./server.ts";
import { readSettings, SettingsError } from "./settings.ts";

const usage = `A stand-in for Lakekeeper ${version}

Usage: main.ts <COMMAND>

Commands:
  migrate                                  Migrate the database
  wait-for-db [-d] [-m] [-r N] [-b S]      Wait for the database (-d) and its migration (-m)
  serve                                    Run the server
  healthcheck [-a] [-d] [-s]               Check the server (default, -s), the database (-d) or both (-a)
  version                                  Print the version
  reopen-bootstrap --yes                   Allow the bootstrap call once more
`;

class UsageError extends Error {}

const flags = {
  "check-all": { type: "boolean", short: "a" },
  "check-db": { type: "boolean", short: "d" },
  "check-server": { type: "boolean", short: "s" },
  "check-migrations": { type: "boolean", short: "m" },
  retries: { type: "string", short: "r" },
  backoff: { type: "string", short: "b" },
  "force-start": { type: "boolean", short: "f" },
  yes: { type: "boolean", short: "y" },
} as const satisfies ParseArgsOptionsConfig;

type Flag = keyof typeof flags;

const accepted: Record<string, readonly Flag[]> = {
  migrate: [],
  "wait-for-db": ["check-db", "check-migrations", "retries", "backoff"],
  serve: ["force-start"],
  healthcheck: ["check-all", "check-db", "check-server"],
  version: [],
  "reopen-bootstrap": ["yes"],
};

function parse(args: string[]): { command: string | undefined; values: Partial<Record<Flag, string | boolean>> } {
  const [command, ...rest] = args;
  if (command === undefined) return { command, values: {} };
  const known = accepted[command];
  if (known === undefined) throw new UsageError(`unrecognized subcommand '${command}'`);
  try {
    const options = Object.fromEntries(known.map((name) => [name, flags[name]]));
    return { command, values: parseArgs({ args: rest, options, allowPositionals: false }).values };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function count(value: string | boolean | undefined, otherwise: number): number {
  if (typeof value !== "string") return otherwise;
  if (!/^\d+$/.test(value)) throw new UsageError(`invalid value '${value}': invalid digit found in string`);
  return Number(value);
}

async function runServer(): Promise<number> {
  const settings = readSettings(process.env);
  if (settings.migrateBeforeServe) {
    await runWaitForDatabase(settings, { checkDatabase: true, checkMigrations: false, retries: 15, backoffSeconds: 2 });
    await runMigrate(settings);
  }
  const server = await serve(settings);
  const signal = await new Promise<string>((resolve) => {
    for (const name of ["SIGTERM", "SIGINT"]) process.once(name, resolve);
  });
  log("INFO", "lakekeeper::serve", `Received ${signal}, shutting down.`);
  await server.close();
  return 0;
}

async function run(args: string[]): Promise<number> {
  const { command, values } = parse(args);
  switch (command) {
    case "version":
      process.stdout.write(`${version}\n`);
      return 0;
    case "migrate":
      await runMigrate(readSettings(process.env));
      return 0;
    case "serve":
      return runServer();
    case "healthcheck": {
      const all = values["check-all"] === true;
      const what = { database: all || values["check-db"] === true, server: all || values["check-server"] === true };
      return (await runHealthcheck(readSettings(process.env), what)) ? 0 : 1;
    }
    case "wait-for-db":
      await runWaitForDatabase(readSettings(process.env), {
        checkDatabase: values["check-db"] === true,
        checkMigrations: values["check-migrations"] === true,
        retries: count(values.retries, 15),
        backoffSeconds: count(values.backoff, 2),
      });
      return 0;
    case "reopen-bootstrap":
      await runReopenBootstrap(readSettings(process.env), values.yes === true);
      return 0;
    default:
      if (readSettings(process.env).autoServe) return runServer();
      throw new Error("No subcommand provided. Use --help for more information.");
  }
}

/** 101 is how a Rust program ends that panics, 2 how its argument parser refuses. */
function exitCode(error: unknown): number {
  return error instanceof UsageError ? 2 : error instanceof SettingsError ? 101 : 1;
}

/** Runs one command and leaves its exit code for the process. */
export async function main(args: string[]): Promise<void> {
  if (args.includes("--help") || args.includes("-h")) {
    process.stdout.write(usage);
    return;
  }
  // Output may be a pipe: the process ends by itself once it has been written.
  process.exitCode = await run(args).catch((error: unknown) => {
    process.stderr.write(`Error: ${error instanceof Error ? error.message : String(error)}\n`);
    if (error instanceof UsageError) process.stderr.write(`\n${usage}`);
    return exitCode(error);
  });
}
