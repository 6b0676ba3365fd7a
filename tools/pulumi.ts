/** `node tools/pulumi.ts <command> [arguments]`: the engine's commands as the Makefile offers them, on the stack STACK. */
import { command } from "./command.ts";
import { recover } from "./interrupted.ts";
import { currentStack, exists, prepare, pulumi, stackArguments, type Stack } from "./stack.ts";
import { summary } from "./summary.ts";
import { sweep } from "./sweep.ts";

await command(async () => {
  const [name = "up", ...rest] = process.argv.slice(2);
  const stack = await currentStack();
  if (name === "destroy" && stack.isolated) return destroy(stack);
  await ready(stack);
  await pulumi(stack, [name, ...options(name, stack), ...rest]);
  if (name === "up") process.stdout.write(`${await summary(stack)}\n`);
});

/** The operator's own stack is made and mended by the operator. */
async function ready(stack: Stack): Promise<void> {
  if (!stack.isolated) return;
  await prepare(stack);
  await recover(stack);
}

/** Nothing of an isolated stack stays behind but its data, not even what the engine has lost track of. */
async function destroy(stack: Stack): Promise<void> {
  if (exists(stack)) {
    await ready(stack);
    await pulumi(stack, ["destroy", ...options("destroy", stack)]);
  }
  await sweep(stack.name);
  process.stdout.write(`Nothing of the stack ${stack.name} is running. Its bucket is kept in .state/${stack.name}.\n`);
}

/** Asks before it changes a stack that may be somebody's production, unless YES=1; an isolated stack is ours alone. */
function changing(stack: Stack): string[] {
  if (stack.isolated) return [...stackArguments(stack), "--yes", "--skip-preview"];
  return process.env.YES === "1" ? [...stackArguments(stack), "--yes"] : stackArguments(stack);
}

function options(name: string, stack: Stack): string[] {
  switch (name) {
    case "up":
      // The outputs that a person wants are told afterwards, in fewer lines.
      return [...changing(stack), "--suppress-outputs"];
    case "refresh":
    case "destroy":
      return changing(stack);
    case "preview":
      return [...stackArguments(stack), "--diff"];
    default:
      return [];
  }
}
