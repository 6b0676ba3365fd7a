/** `tools/pulumi <arguments>`: the engine on the stack STACK, with its arguments as they were typed. */
import { relative } from "node:path";
import { command } from "./command.ts";
import { ready } from "./ready.ts";
import { checkout, currentStack, keepSettings, pulumi, settingsCopy } from "./stack.ts";

/** Commands of the engine that read or write the stack's settings. */
const USE_SETTINGS = new Set([
  "config",
  "destroy",
  "down",
  "dn",
  "import",
  "preview",
  "pre",
  "refresh",
  "up",
  "update",
]);

await command(async () => {
  const args = process.argv.slice(2);
  const stack = await currentStack();
  if (stack.isolated) {
    await ready(stack);
    const index = args.findIndex((word) => !word.startsWith("-"));
    if (USE_SETTINGS.has(args[index] ?? "")) args.splice(index + 1, 0, "--config-file", settingsCopy(stack));
  }
  // The engine looks for Pulumi.yaml from here upwards.
  const isInside = !relative(checkout, process.cwd()).startsWith("..");
  try {
    await pulumi(stack, args, isInside ? process.cwd() : checkout);
  } finally {
    if (stack.isolated) keepSettings(stack);
  }
});
