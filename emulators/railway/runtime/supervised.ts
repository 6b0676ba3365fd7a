import { mkdir, open, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { commandOf, startTimeOf } from "../../../platforms/local/processId.ts";
import { spawnDetached } from "../../../platforms/local/spawn.ts";
import type { Program } from "./program.ts";

/**
 * The first process of a container, about 0.1 MB of memory: it writes its pid and later the program's exit code to its
 * descriptor 3, where whoever comes later finds them, and hands signals on. SIGTERM becomes the program's own signal to
 * stop and SIGQUIT becomes SIGKILL, so that the exit code of a killed program is known too. A signal interrupts `wait`,
 * which is therefore repeated; it answers 127 for a program that it has told of before.
 */
const SUPERVISOR = `
child= sent= code= signal=$1; shift
pass() { sent=$1; interrupted=1; [ -z "$child" ] || kill -s "$1" "$child" 2>/dev/null; }
trap 'pass "$signal"' TERM; trap 'pass KILL' QUIT
echo $$ >&3
"$@" 3>&- & child=$!
[ -z "$sent" ] || kill -s "$sent" "$child" 2>/dev/null
interrupted=1
while [ -n "$interrupted" ]; do
  interrupted=
  wait "$child" 2>/dev/null; status=$?
  [ "$status" = 127 ] && [ -n "$code" ] || code=$status
done
echo "$code" >&3
`;

/** Exit code of what was killed without a word, as after a crash of the machine. */
const KILLED = 137;
const LOOK_EVERY_MS = 200;
const KILL_AGAIN_MS = 100;

/** A program that lives on when whoever started it ends, and can be found again with how it ended. */
export interface Supervised {
  readonly logFile: string;
  readonly isRunning: boolean;
  readonly exitCode: Promise<number>;
  /** Asks it to end, kills it when it is still there after that many seconds, and resolves when it is gone. */
  stop(drainingSeconds: number): Promise<void>;
}

/**
 * Starts it; everything of it is kept in `folder`, whose name tells containers apart. One that runs there already, of an
 * emulator that was killed, makes way.
 */
export async function startSupervised(folder: string, program: Program): Promise<Supervised> {
  await (await findSupervised(folder))?.stop(0);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await using fate = await open(fateFile(folder), "w", 0o600);
  const { command, cwd, environment, stopSignal, uid, gid } = program;
  const { id, exited } = await spawnDetached({
    command,
    environment,
    cwd,
    logFile: logFile(folder),
    under: {
      command: ["/bin/sh", "-c", SUPERVISOR, nameOf(folder), stopSignal.replace("SIG", "")],
      descriptors: [fate.fd],
    },
    ...(uid !== undefined && { uid }),
    ...(gid !== undefined && { gid }),
  });
  return supervised(folder, id.pid, exited);
}

/** What was started in a folder earlier, running or not; undefined when nothing was. */
export async function findSupervised(folder: string): Promise<Supervised | undefined> {
  const { pid } = await fateIn(folder);
  if (pid === undefined) return undefined;
  // A later process with the same pid does not bear its name.
  const isRunning = (await commandOf(pid))?.includes(` ${nameOf(folder)} `) === true;
  return supervised(folder, pid, isRunning ? untilGone(pid) : undefined);
}

function supervised(folder: string, pid: number, gone: Promise<unknown> | undefined): Supervised {
  let isRunning = gone !== undefined;
  const exitCode = Promise.resolve(gone).then(async () => {
    if (isRunning) await killOrphan(pid);
    isRunning = false;
    return (await fateIn(folder)).exitCode ?? KILLED;
  });
  return {
    logFile: logFile(folder),
    exitCode,
    get isRunning() {
      return isRunning;
    },
    async stop(drainingSeconds) {
      if (!isRunning) return;
      send(pid, "SIGTERM");
      // One that was suspended takes the signal only when it goes on.
      send(-pid, "SIGCONT");
      // The timer also keeps this process waiting: nothing else does, for the program is to outlive it.
      let timer = setTimeout(function kill() {
        if (isRunning) send(pid, "SIGQUIT");
        timer = setTimeout(kill, KILL_AGAIN_MS);
      }, drainingSeconds * 1_000);
      await exitCode;
      clearTimeout(timer);
    },
  };
}

/** Should only the supervisor have been killed, its program is left in its group, which keeps the pid from others. */
async function killOrphan(pid: number): Promise<void> {
  if ((await startTimeOf(pid)) === undefined) send(-pid, "SIGKILL");
}

/** Nobody is told of the end of a process that is not one's own child. */
async function untilGone(pid: number): Promise<void> {
  const startTime = await startTimeOf(pid);
  while (startTime !== undefined && (await startTimeOf(pid)) === startTime) {
    await delay(LOOK_EVERY_MS, undefined, { ref: false });
  }
}

async function fateIn(folder: string): Promise<{ pid?: number; exitCode?: number }> {
  const text = await readFile(fateFile(folder), "utf8").catch(() => "");
  const [pid, exitCode] = text.split("\n").slice(0, -1).map(Number);
  return { ...(pid !== undefined && { pid }), ...(exitCode !== undefined && { exitCode }) };
}

/** In its command line, for people and to find it again. */
const nameOf = (folder: string): string => `container:${resolve(folder)}`;
const fateFile = (folder: string): string => join(folder, "fate");
const logFile = (folder: string): string => join(folder, "log");

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
