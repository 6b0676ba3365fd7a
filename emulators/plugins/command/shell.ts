import { spawn } from "node:child_process";
import { stat } from "node:fs/promises";
import { constants } from "node:os";
import { quoteGo } from "../goText.ts";
import type { CommandInputs } from "./inputs.ts";

export interface Outputs {
  stdout: string;
  stderr: string;
}

export interface RunOptions extends Pick<CommandInputs, "dir" | "environment" | "interpreter" | "stdin"> {
  /** What the command before has put out, which this one is told. */
  readonly previous?: Outputs | undefined;
  /** Of each line as it comes. */
  readonly onLine: (stream: keyof Outputs, line: string) => void;
}

const SHELL = ["/bin/sh", "-c"];

/**
 * Runs a command and gives what it has put out, of which one line end at the end is cut.
 *
 * @throws Error with the real plugin's words when it cannot be run or does not end with 0
 */
export async function runCommand(command: string, options: RunOptions): Promise<Outputs> {
  const { dir, environment = {}, interpreter = SHELL, stdin = "", previous, onLine } = options;
  const [program = "", ...args] = interpreter;
  const fail = (what: string, output = ""): never => {
    throw new Error(`${what}: running ${quoteGo(command)}:\n${output}`);
  };
  if (
    dir !== undefined &&
    !(await stat(dir)
      .then((found) => found.isDirectory())
      .catch(() => false))
  ) {
    fail(`chdir ${dir}: no such file or directory`);
  }
  const child = spawn(program, [...args, command], {
    ...(dir !== undefined && { cwd: dir }),
    env: { ...process.env, ...environment, ...told(previous) },
  });
  let mixed = "";
  const outputs: Outputs = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream].setEncoding("utf8").on("data", (text: string) => {
      mixed += text;
      outputs[stream] += text;
    });
  }
  // A command that does not read it is not to blame.
  child.stdin.on("error", () => undefined).end(stdin);
  const ended = await new Promise<string | undefined>((resolve) => {
    child.on("error", () =>
      resolve(
        program.includes("/")
          ? `fork/exec ${program}: no such file or directory`
          : `exec: ${quoteGo(program)}: executable file not found in $PATH`,
      ),
    );
    child.on("close", (code, signal) => {
      if (signal !== null) resolve(`signal: ${nameOf(signal)}`);
      else resolve(code === 0 ? undefined : `exit status ${code}`);
    });
  });
  for (const stream of ["stdout", "stderr"] as const) {
    outputs[stream] = outputs[stream].replace(/\n$/, "");
    for (const line of outputs[stream].split("\n")) if (line !== "") onLine(stream, line);
  }
  return ended === undefined ? outputs : fail(ended, mixed);
}

/** How a command is told what the one before has put out. */
export function told(previous: Outputs | undefined): Record<string, string> {
  const { stdout = "", stderr = "" } = previous ?? {};
  return {
    ...(stdout !== "" && { PULUMI_COMMAND_STDOUT: stdout }),
    ...(stderr !== "" && { PULUMI_COMMAND_STDERR: stderr }),
  };
}

/** As Go calls the usual ones. */
function nameOf(signal: NodeJS.Signals): string {
  const names: Partial<Record<NodeJS.Signals, string>> = {
    SIGHUP: "hangup",
    SIGINT: "interrupt",
    SIGKILL: "killed",
    SIGTERM: "terminated",
    SIGSEGV: "segmentation fault",
    SIGABRT: "aborted",
  };
  return names[signal] ?? `signal ${constants.signals[signal]}`;
}
