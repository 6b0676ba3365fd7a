import { spawn } from "node:child_process";
import { join } from "node:path";
import { UserError } from "../../clients/errors.ts";
import { cacheFolder } from "./cache.ts";
import { openLog, type Log } from "./logs.ts";
import { startTimeOf, type ProcessId } from "./processId.ts";

export interface SpawnOptions {
  /** Program and arguments. `node` is the Node that runs this. No secrets: anybody on the machine can list them. */
  readonly command: readonly string[];
  /** All it gets, beyond PATH, HOME, TZ and TMPDIR. */
  readonly environment: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly logFile: string;
  /** Another program that runs it and is told it as arguments; `descriptors` are files that it gets as 3 and up. */
  readonly under?: { readonly command: readonly string[]; readonly descriptors: readonly number[] };
  readonly uid?: number;
  readonly gid?: number;
}

export interface Spawned {
  readonly id: ProcessId;
  readonly log: Log;
  /** How it ended, such as "exit code 1"; settles when it does. */
  readonly exited: Promise<string>;
}

/** Starts a process that lives on when this one ends: a session of its own, output to the log. */
export async function spawnDetached(options: SpawnOptions): Promise<Spawned> {
  const { command, environment, cwd, logFile, under, uid, gid } = options;
  const [program = ""] = command;
  const [file = "", ...args] = [
    ...(under?.command ?? []),
    program === "node" ? process.execPath : program,
    ...command.slice(1),
  ];
  const log = await openLog(logFile);
  try {
    const child = spawn(file, args, {
      cwd,
      detached: true,
      env: { ...inherited(), ...(program === "node" && { NODE_COMPILE_CACHE: compileCache() }), ...environment },
      stdio: ["ignore", log.handle.fd, log.handle.fd, ...(under?.descriptors ?? [])],
      ...(uid !== undefined && { uid }),
      ...(gid !== undefined && { gid }),
    });
    const exited = new Promise<string>((resolve) => {
      child.once("exit", (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`));
    });
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", (error) => reject(cannotStart(program, cwd, error)));
    });
    child.unref();
    const pid = child.pid as number;
    // One that is gone already has no start time; `exited` tells the caller.
    return { id: { pid, startTime: (await startTimeOf(pid)) ?? "" }, log, exited };
  } finally {
    await log.handle.close();
  }
}

function cannotStart(program: string, cwd: string, error: NodeJS.ErrnoException): UserError {
  const reason = error.code === "ENOENT" ? `neither ${cwd} nor the program may be missing` : error.message;
  return new UserError(`${program} cannot be started: ${reason}.`, { cause: error });
}

/** Node keeps its TypeScript compiler, about 20 MB, out of a process that finds its code compiled. */
function compileCache(): string {
  return join(cacheFolder(), "compiled");
}

/** What every program needs to find its tools and folders; nothing else of the operator's environment is passed on. */
function inherited(): Record<string, string> {
  const names = ["PATH", "HOME", "TZ", "TMPDIR"];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}
