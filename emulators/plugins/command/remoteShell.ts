import { constants } from "node:os";
import type { Client } from "ssh2";
import { quoteGo } from "../goText.ts";
import { connect, type Connection } from "./connection.ts";
import { told, type Outputs, type RunOptions } from "./shell.ts";

export interface RemoteOptions extends Pick<RunOptions, "environment" | "stdin" | "previous" | "onLine"> {
  readonly connection: Connection;
  readonly warn: (message: string) => void;
}

/**
 * Runs a command on another machine, and gives what it has put out as `runCommand` does.
 *
 * @throws Error with the real plugin's words when it cannot be run or does not end with 0
 */
export async function runRemotely(command: string, options: RemoteOptions): Promise<Outputs> {
  const { connection, environment = {}, stdin = "", previous, onLine, warn } = options;
  const client = await connect(connection);
  try {
    const env: Record<string, string> = {};
    for (const [name, value] of Object.entries({ ...environment, ...told(previous) })) {
      if (await isTaken(client, name, value)) env[name] = value;
      else {
        warn(refusalOf(name));
        if (name in environment)
          throw new Error(`could not set environment variable ${quoteGo(name)}: ssh: setenv failed`);
      }
    }
    const { outputs, mixed, ended } = await run(client, command, env, stdin);
    for (const stream of ["stdout", "stderr"] as const) {
      for (const line of outputs[stream].split("\n")) if (line !== "") onLine(stream, line);
    }
    if (ended !== undefined) throw new Error(`${ended}: running ${quoteGo(command)}:\n${mixed}`);
    return outputs;
  } finally {
    client.end();
  }
}

/** Whether the server takes a variable, which SSH's answer would tell and this library does not hand on. */
async function isTaken(client: Client, name: string, value: string): Promise<boolean> {
  const { outputs } = await run(client, `printenv ${name}`, { [name]: value }, "");
  return outputs.stdout === value.replace(/\n$/, "");
}

function refusalOf(name: string): string {
  return (
    `Unable to set '${name}'. This only works if your SSH server is configured to accept\n\tthese variables via AcceptEnv. ` +
    "Alternatively, if a Bash-like shell runs the command on the remote host, you could\n\tprefix the command itself with " +
    "the variables in the form 'VAR=value command'"
  );
}

interface Ended {
  outputs: Outputs;
  /** Both as they came. */
  mixed: string;
  /** How, when it was not well. */
  ended: string | undefined;
}

function run(client: Client, command: string, env: Record<string, string>, stdin: string): Promise<Ended> {
  return new Promise((resolve, reject) => {
    // All is listened to at once: a short command's end may come with the answer that it was begun.
    client.exec(command, { env }, (error, channel) => {
      if (error) return void reject(error);
      const all: Ended = { outputs: { stdout: "", stderr: "" }, mixed: "", ended: undefined };
      const keep = (stream: keyof Outputs) => (chunk: Buffer) => {
        all.mixed += chunk.toString();
        all.outputs[stream] += chunk.toString();
      };
      channel.on("data", keep("stdout"));
      channel.stderr.on("data", keep("stderr"));
      channel.on("exit", (code: number | null, signal?: string) => {
        if (code === 0) return;
        all.ended = code === null && signal !== undefined ? signalled(signal) : `Process exited with status ${code}`;
      });
      channel.once("close", () => {
        for (const stream of ["stdout", "stderr"] as const)
          all.outputs[stream] = all.outputs[stream].replace(/\n$/, "");
        resolve(all);
      });
      channel.end(stdin);
    });
  });
}

function signalled(signal: string): string {
  const name = signal.replace(/^SIG/, "");
  const number = constants.signals[`SIG${name}` as NodeJS.Signals];
  return `Process exited with status ${128 + number} from signal ${name}`;
}
