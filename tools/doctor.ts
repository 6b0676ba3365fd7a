/**
 * `make doctor`, or `node tools/doctor.ts --stack dev`: looks at the running catalog of a stack as its clients see it
 * and prints what it saw. The exit code is 1 when a check fails, also one that `pulumi up` would let pass.
 */
import { parseArgs } from "node:util";
import { UserError } from "../clients/errors.ts";
import { verificationSchema, type VerificationInputs } from "../providers/verification/inputs.ts";
import { formatReport } from "../providers/verification/report.ts";
import { runVerification } from "../providers/verification/run.ts";
import { command } from "./command.ts";
import { notUp, requireUp } from "./outputs.ts";
import { currentStack, upCommand } from "./stack.ts";
import { exportedState, inputsOf } from "./stackState.ts";

await command(async () => {
  const { values } = parseArgs({ options: { stack: { type: "string" } } });
  if (values.stack !== undefined) process.env.STACK = values.stack;
  const stack = await currentStack();
  const up = upCommand(stack);
  await requireUp(stack);
  // From the state and not from an output, which everyone who may read the stack's outputs would be given.
  const inputs = inputsOf("Verification", await exportedState(stack));
  if (inputs === undefined) throw notUp(stack);
  const { success, data } = verificationSchema.safeParse(inputs);
  if (!success) throw new UserError(`The stack ${stack.name} was made by another release: run ${up}, then look again.`);

  const report = await runVerification(data as VerificationInputs);
  process.stdout.write(`${formatReport(report)}\n`);
  const failed = report.checks.filter(({ outcome }) => outcome === "failed");
  if (failed.length === 0) return;
  const words =
    failed[0]!.check === "health"
      ? `Lakekeeper at ${data.connection.uri} is not well: ${failed[0]!.seen}. Run ${up} to start it again.`
      : `Failed: ${failed.map(({ check }) => check).join(", ")}.`;
  throw new UserError(words);
});
