import { spawn } from "node:child_process";
import { UserError } from "../clients/errors.ts";

/**
 * Runs a program and resolves to what it printed on standard output.
 *
 * @throws UserError with the end of what it printed when it fails or is not there.
 */
export function run(
  program: string,
  args: readonly string[],
  options: { cwd: string; env?: NodeJS.ProcessEnv },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    let printed = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      printed += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => (printed += text));
    child.on("error", (error) => reject(new UserError(`Cannot run ${program}: ${error.message}`)));
    child.on("close", (code) => {
      if (code === 0) return resolve(output);
      const end = printed.trimEnd().split("\n").slice(-15).join("\n");
      reject(new UserError(`\`${program} ${args.join(" ")}\` failed (exit code ${code}):\n${end}`));
    });
  });
}
