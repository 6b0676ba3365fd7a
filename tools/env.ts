/** `make env`: prints what the ml-runner needs in its environment, from the outputs of the stack STACK. */
import { z } from "zod";
import { UserError } from "../clients/errors.ts";
import { command } from "./command.ts";
import { formats, variables, type Environment, type Format } from "./environment.ts";
import { run } from "./run.ts";
import { checkout, currentStack, exists } from "./stack.ts";

await command(async () => {
  const format = process.env.FORMAT || "dotenv";
  if (!isFormat(format)) {
    throw new UserError(`FORMAT is ${JSON.stringify(format)}: it is one of ${Object.keys(formats).join(", ")}.`);
  }
  const environment = await readEnvironment(process.env.SHOW_SECRETS === "1");
  process.stdout.write(`${formats[format](environment)}\n`);
  if (Object.values(environment).includes(undefined)) {
    process.stderr.write("Secrets are masked; SHOW_SECRETS=1 shows them.\n");
  }
});

function isFormat(name: string): name is Format {
  return Object.hasOwn(formats, name);
}

async function readEnvironment(showSecrets: boolean): Promise<Environment> {
  const stack = await currentStack();
  const missing = `The stack ${stack.name} does not have the ml-runner's variables yet: run \`make up STACK=${stack.name}\` first.`;
  if (stack.isolated && !exists(stack)) throw new UserError(missing);
  const options = ["--stack", stack.name, "--json", ...(showSecrets ? ["--show-secrets"] : [])];
  const printed = await run("pulumi", ["stack", "output", ...options], { cwd: checkout, env: stack.environment });
  const outputs = z.record(z.string(), z.unknown()).parse(JSON.parse(printed));
  return Object.fromEntries(
    variables.map((name) => {
      const value = outputs[name];
      if (typeof value !== "string") throw new UserError(missing);
      // What the engine prints for a secret output without --show-secrets.
      return [name, value === "[secret]" && !showSecrets ? undefined : value];
    }),
  );
}
