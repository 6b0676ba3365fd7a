/** `make env`: prints what the ml-runner needs in its environment, from the outputs of the stack STACK. */
import { UserError } from "../clients/errors.ts";
import { command } from "./command.ts";
import { environmentOf, formats, variables, type Format } from "./environment.ts";
import { stackOutputs } from "./outputs.ts";
import { currentStack } from "./stack.ts";

await command(async () => {
  const format = process.env.FORMAT || "dotenv";
  if (!isFormat(format)) {
    throw new UserError(`FORMAT is ${JSON.stringify(format)}: it is one of ${Object.keys(formats).join(", ")}.`);
  }
  const showSecrets = process.env.SHOW_SECRETS === "1";
  const outputs = await stackOutputs(await currentStack(), variables, showSecrets);
  const environment = environmentOf(outputs, showSecrets);
  process.stdout.write(`${formats[format](environment)}\n`);
  if (Object.values(environment).includes(undefined)) {
    process.stderr.write("Secrets are masked; SHOW_SECRETS=1 shows them.\n");
  }
});

function isFormat(name: string): name is Format {
  return Object.hasOwn(formats, name);
}
