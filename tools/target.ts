/** `node tools/target.ts <command>`: up, preview, refresh and destroy as the Makefile offers them, on the stack STACK. */
import { changing } from "./changing.ts";
import { command } from "./command.ts";
import { alone, ready } from "./ready.ts";
import { requireReachable } from "./reachable.ts";
import { retainedOf } from "./retained.ts";
import { currentStack, exists, pulumi, stackArguments, type Stack } from "./stack.ts";
import { summary } from "./summary.ts";
import { sweep } from "./sweep.ts";

await command(async () => {
  const [name = "up"] = process.argv.slice(2);
  const stack = await currentStack();
  switch (name) {
    case "up":
      await change(stack, "up");
      process.stdout.write(`${await summary(stack)}\n`);
      break;
    case "refresh":
      await change(stack, "refresh");
      break;
    case "destroy":
      await (stack.isolated ? alone(stack, () => takeDown(stack)) : requireReachable(stack).then(() => destroy(stack)));
      break;
    case "preview":
      await (stack.isolated ? ready(stack) : requireReachable(stack));
      await pulumi(stack, ["preview", ...stackArguments(stack), "--diff"]);
  }
});

/** The operator's own stack is made and mended by the operator. */
async function change(stack: Stack, name: "up" | "refresh"): Promise<void> {
  if (stack.isolated) {
    await alone(stack, async () => {
      await ready(stack);
      await pulumi(stack, changing(stack, name));
    });
  } else {
    await requireReachable(stack);
    await pulumi(stack, changing(stack, name));
  }
}

/** Nothing of an isolated stack stays behind but its data, not even what the engine has lost track of. */
async function takeDown(stack: Stack): Promise<void> {
  if (exists(stack)) {
    await ready(stack);
    await destroy(stack);
  }
  await sweep(stack.name);
  process.stdout.write(`Nothing of the stack ${stack.name} is running. Its bucket is kept in .state/${stack.name}.\n`);
}

/** The engine forgets what is retained without a word, so that nobody would know what goes on running, and costing. */
async function destroy(stack: Stack): Promise<void> {
  const retained = await retainedOf(stack);
  await pulumi(stack, changing(stack, "destroy"));
  if (retained.length === 0) return;
  const kept = retained.map((resource) => `  ${resource}\n`).join("");
  process.stdout.write(
    `Left where it is, for the stack retains it; what is not wanted any more is to be deleted there:\n${kept}`,
  );
}
