/** `node tools/pulumi.ts <command> [arguments]`: the engine's commands as the Makefile offers them, on the stack STACK. */
import { command } from "./command.ts";
import { recover } from "./interrupted.ts";
import { currentStack, exists, prepare, pulumi, stackArguments, type Stack } from "./stack.ts";

await command(async () => {
  const [name = "up", ...rest] = process.argv.slice(2);
  const stack = await currentStack();
  if (name === "destroy" && stack.isolated && !exists(stack)) {
    process.stdout.write(`The stack ${stack.name} does not exist: there is nothing to remove.\n`);
    return;
  }
  if (stack.isolated) {
    await prepare(stack);
    await recover(stack);
  }
  await pulumi(stack, [name, ...options(name, stack), ...rest]);
});

/** Asks before it changes a stack that may be somebody's production, unless YES=1; an isolated stack is ours alone. */
function options(name: string, stack: Stack): string[] {
  switch (name) {
    case "up":
    case "refresh":
    case "destroy":
      if (stack.isolated) return [...stackArguments(stack), "--yes", "--skip-preview"];
      return process.env.YES === "1" ? [...stackArguments(stack), "--yes"] : stackArguments(stack);
    case "preview":
      return [...stackArguments(stack), "--diff"];
    default:
      return [];
  }
}
