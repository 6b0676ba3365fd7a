import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import { UserError } from "../../clients/errors.ts";
import { Faults } from "../faults.ts";

/** A stand-in as a person starts it. */
export interface StandIn {
  /** @throws UserError for wrong options, and when it cannot start */
  start(args: string[]): Promise<{
    /** What to tell the person: addresses, credentials, what to do with them. */
    text: string;
    close(): Promise<void>;
  }>;
}

const shared = {
  dir: { type: "string" },
  port: { type: "string" },
  fault: { type: "string", multiple: true, default: [] },
} as const satisfies ParseArgsOptionsConfig;

type Values<Own extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: typeof shared & Own; allowPositionals: false }>
>["values"];

/**
 * The options that all stand-ins have, read and checked, and those of this one as they were given.
 *
 * @throws UserError
 */
export function readOptions<Own extends ParseArgsOptionsConfig>(
  name: string,
  usualPort: number,
  args: string[],
  own: Own,
): { directory: string; port: number; faults: string[]; own: Values<Own> } {
  const options = { ...shared, ...own };
  let values: Values<Own>;
  try {
    ({ values } = parseArgs({ args, options, allowPositionals: false, strict: true }));
  } catch (error) {
    throw new UserError(`${(error as Error).message.split(". ")[0]}. See --help.`, { cause: error });
  }
  const { dir, port = String(usualPort), fault } = values as { dir?: string; port?: string; fault: string[] };
  if (!/^\d+$/.test(port) || Number(port) > 65_535) {
    throw new UserError(`--port is ${JSON.stringify(port)}: it is a number up to 65535, or 0 for a free port.`);
  }
  new Faults(fault);
  return { directory: resolve(dir ?? join(".state/emulators", name)), port: Number(port), faults: fault, own: values };
}

/** What `make` made when the file was not there yet: secrets that outlive a restart. Only their owner can read them. */
export async function remembered<T>(file: string, make: () => Promise<T> | T): Promise<T> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT")
      throw new UserError(`Cannot read ${file}: ${(error as Error).message}. Remove it to start with new secrets.`);
  }
  const secrets = await make();
  await remember(file, secrets);
  return secrets;
}

export async function remember(file: string, secrets: unknown): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
  } catch (error) {
    throw new UserError(`Cannot write ${file}: ${(error as Error).message}. Choose another folder with --dir.`);
  }
}

/** Rejects with a remedy when the port is taken. */
export async function listening<T>(port: number, start: Promise<T>): Promise<T> {
  return start.catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EADDRINUSE" && error.code !== "EACCES") throw error;
    const reason = error.code === "EACCES" ? "may not be used by this user" : "is taken";
    throw new UserError(`Port ${port} on 127.0.0.1 ${reason}. Choose another with --port; 0 takes a free one.`);
  });
}
