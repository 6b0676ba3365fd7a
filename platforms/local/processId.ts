import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { UserError } from "../../clients/errors.ts";

/** A process that cannot be mistaken for a later one with the same pid, not even after a reboot. */
export interface ProcessId {
  readonly pid: number;
  /** Opaque: compare it for equality only. */
  readonly startTime: string;
}

/** When the process with this pid started, or undefined when there is none. One that only waits to be reaped is none. */
export async function startTimeOf(pid: number): Promise<string | undefined> {
  if (process.platform === "linux") {
    try {
      const [stat, boot] = await Promise.all([
        readFile(`/proc/${pid}/stat`, "utf8"),
        readFile("/proc/sys/kernel/random/boot_id", "utf8"),
      ]);
      // proc(5): the second field, the name, is the only one that may hold a space or a parenthesis.
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      // A process that dies is a zombie at once, but holds its ports and files until the last of its threads is gone.
      const isGone = /^[ZXx]$/.test(fields[0] ?? "") && Number(fields[17]) <= 1;
      return isGone ? undefined : `${boot.trim()}/${fields[19]}`;
    } catch {
      return undefined;
    }
  }
  try {
    const { stdout } = await promisify(execFile)("ps", ["-o", "stat=,lstart=", "-p", String(pid)]);
    const [state = "", ...started] = stdout.trim().split(/\s+/);
    return state.startsWith("Z") ? undefined : started.join(" ");
  } catch {
    return undefined;
  }
}

export async function isAlive({ pid, startTime }: ProcessId): Promise<boolean> {
  return (await startTimeOf(pid)) === startTime;
}

/** The command line of a process, or undefined when it is not there or not ours to see. */
export async function commandOf(pid: number): Promise<string | undefined> {
  try {
    if (process.platform === "linux") {
      return (await readFile(`/proc/${pid}/cmdline`, "utf8")).replaceAll("\0", " ").trim() || undefined;
    }
    return (await promisify(execFile)("ps", ["-o", "command=", "-p", String(pid)])).stdout.trim() || undefined;
  } catch {
    return undefined;
  }
}

/** True once the process is gone, false when it is still there after `milliseconds`. */
export async function hasExited(id: ProcessId, milliseconds: number): Promise<boolean> {
  const deadline = Date.now() + milliseconds;
  while (await isAlive(id)) {
    if (Date.now() > deadline) return false;
    await delay(20);
  }
  return true;
}

/** What `work` comes to, or false as soon as the process is gone. The signal tells `work` that nobody waits any more. */
export async function whileAlive(id: ProcessId, work: (signal: AbortSignal) => Promise<boolean>): Promise<boolean> {
  const decided = new AbortController();
  const gone = async (): Promise<boolean> => {
    while (!decided.signal.aborted && (await isAlive(id))) await delay(50);
    return false;
  };
  try {
    return await Promise.race([work(decided.signal), gone()]);
  } finally {
    decided.abort();
  }
}

/** How long a process may take to end by itself; Lakekeeper gives its background work 20 s. */
const PATIENCE_MS = 30_000;

/** Ends a process, and after 30 s kills it with all that it started. A later process with the same pid is left alone. */
export async function stopProcess(id: ProcessId, signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
  if (!(await isAlive(id))) return;
  send(id.pid, signal);
  // One that was suspended takes the signal only when it goes on.
  send(id.pid, "SIGCONT");
  if (!(await hasExited(id, PATIENCE_MS))) {
    console.log(`process ${id.pid} did not end within ${PATIENCE_MS / 1_000} s of ${signal} and is killed`);
    send(id.pid, "SIGKILL");
    await hasExited(id, PATIENCE_MS);
  }
  // It led a group of its own, in which its children may be left.
  send(-id.pid, "SIGKILL");
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ESRCH") return;
    throw new UserError(`Process ${Math.abs(pid)} cannot be stopped (${code}): it belongs to another user.`, {
      cause: error,
    });
  }
}
