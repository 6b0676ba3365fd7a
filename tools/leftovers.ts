import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { basename } from "node:path";
import { promisify } from "node:util";
import { startTimeOf, stopProcess, type ProcessId } from "../platforms/local/processId.ts";

/**
 * The variable that marks the engine and whatever it starts as a run on one stack of one checkout. The servers of a
 * local stack do not have it, for they are given an environment of their own.
 */
const MARK = "LAKEKEEPER_STACK_RUN";

interface Run extends ProcessId {
  readonly parent: number;
  /** File name of the program. */
  readonly program: string;
}

/** What marks a run on a stack. */
export function mark(checkout: string, stackName: string): Record<typeof MARK, string> {
  return { [MARK]: `${checkout}:${stackName}` };
}

/**
 * Ends what runs on a stack have left: the language host and the providers of an engine that was killed, which notice
 * only after minutes, if ever. What belongs to an engine that is alive goes on.
 */
export async function endLeftovers(checkout: string, stackName: string): Promise<void> {
  const { [MARK]: value } = mark(checkout, stackName);
  const runs = new Map((await marked((found) => found === value)).map((run) => [run.pid, run]));
  const isLeft = ({ program, parent }: Run): boolean => {
    const above = runs.get(parent);
    return program !== "pulumi" && (above === undefined || isLeft(above));
  };
  await end([...runs.values()].filter(isLeft));
}

/** Ends every run on any stack of a checkout, engines that are alive too. */
export async function endRuns(checkout: string): Promise<void> {
  const runs = await marked((found) => found.startsWith(`${checkout}:`));
  await end(runs.filter(({ program }) => program === "pulumi"));
  await end(runs);
}

async function end(runs: readonly Run[]): Promise<void> {
  await Promise.all(runs.map((run) => stopProcess(run)));
}

/** Processes of this user whose mark is as wanted. */
async function marked(isWanted: (mark: string) => boolean): Promise<Run[]> {
  return process.platform === "linux" ? fromProc(isWanted) : fromPs(isWanted);
}

async function fromProc(isWanted: (mark: string) => boolean): Promise<Run[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = pids.map(async (pid): Promise<Run[]> => {
    try {
      const environment = (await readFile(`/proc/${pid}/environ`, "utf8")).split("\0");
      if (!environment.some((pair) => pair.startsWith(`${MARK}=`) && isWanted(pair.slice(MARK.length + 1)))) return [];
      const [command, status, startTime] = await Promise.all([
        readFile(`/proc/${pid}/cmdline`, "utf8"),
        readFile(`/proc/${pid}/status`, "utf8"),
        startTimeOf(pid),
      ]);
      if (startTime === undefined) return [];
      const parent = Number(/^PPid:\s*(\d+)/m.exec(status)?.[1]);
      return [{ pid, startTime, parent, program: basename(command.split("\0")[0] ?? "") }];
    } catch {
      return []; // It has ended, or belongs to another user.
    }
  });
  return (await Promise.all(found)).flat();
}

/** macOS has no /proc; its `ps -E` puts the environment behind the command. */
async function fromPs(isWanted: (mark: string) => boolean): Promise<Run[]> {
  const { stdout } = await promisify(execFile)("ps", ["-xEww", "-o", "pid=,ppid=,command="], { maxBuffer: 2 ** 26 });
  const found = stdout.split("\n").map(async (line): Promise<Run[]> => {
    const [, pid, parent, program = ""] = /^\s*(\d+)\s+(\d+)\s+(\S+)/.exec(line) ?? [];
    // Until the next variable begins: a path may have spaces.
    const value = new RegExp(` ${MARK}=(.*?)(?= [A-Za-z_]\\w*=|$)`).exec(line)?.[1];
    if (value === undefined || !isWanted(value)) return [];
    const startTime = await startTimeOf(Number(pid));
    if (startTime === undefined) return [];
    return [{ pid: Number(pid), startTime, parent: Number(parent), program: basename(program) }];
  });
  return (await Promise.all(found)).flat();
}
