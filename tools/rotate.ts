/**
 * `make rotate WHAT=r2|jwt|tokens`: renews the R2 token that Lakekeeper mints from, the key that signs tokens, or the
 * tokens themselves, by one `pulumi up`, while readers that began before go on reading. Exit code 1 when one of them
 * failed.
 */
import { UserError } from "../clients/errors.ts";
import { parseTableName } from "../providers/tables.registration.ts";
import { verificationSchema, type VerificationInputs } from "../providers/verification/inputs.ts";
import { changing } from "./changing.ts";
import { command } from "./command.ts";
import { notUp } from "./outputs.ts";
import { requireReachable } from "./reachable.ts";
import { startReaders } from "./readers.ts";
import { alone, ready } from "./ready.ts";
import { rotationOf, WHAT, type What } from "./rotation.ts";
import { run } from "./run.ts";
import { checkout, currentStack, exists, keepSettings, pulumi, stackArguments, type Stack } from "./stack.ts";
import { exportedState, inputsOf } from "./stackState.ts";

/** A trial should not take an hour: this is how long what is vended lives on an emulated stack that is rotated. */
const TRIAL_SECONDS = 20;

await command(async () => {
  const stack = await currentStack();
  const what = wanted();
  if (stack.isolated && !exists(stack)) throw notUp(stack);
  await (stack.isolated
    ? alone(stack, () => ready(stack).then(() => rotate(stack, what)))
    : requireReachable(stack).then(() => rotate(stack, what)));
});

function wanted(): What {
  const { WHAT: text = "" } = process.env;
  const found = WHAT.find((one) => one === text);
  if (found === undefined) throw new UserError(`WHAT is ${JSON.stringify(text)}: it is one of ${WHAT.join(", ")}.`);
  return found;
}

async function rotate(stack: Stack, what: What): Promise<void> {
  const rotation = rotationOf(what, (await setting(stack, "lakekeeper:auth.mode")) ?? "bootstrap-token");
  if (what === "r2") await shorten(stack);
  const inputs = await verificationOf(stack);
  const readers = startReaders({
    uri: inputs.connection.uri,
    // Who gets tokens himself goes on doing so; others have the one that they were given.
    identity: inputs.reader ?? { kind: "token", token: inputs.readerToken },
    warehouseId: inputs.warehouseId,
    table: parseTableName(inputs.smokeTable),
  });
  try {
    if ("raise" in rotation) await raise(stack, rotation.raise);
    await pulumi(stack, [...changing(stack, "up"), ...("replace" in rotation ? ["--replace", rotation.replace] : [])]);
  } finally {
    const { reads, failures } = await readers.stop();
    for (const failure of new Set(failures)) process.stderr.write(`  ${failure}\n`);
    process.stdout.write(`reads ${reads}, failures ${failures.length}\n`);
    if (failures.length > 0 || reads === 0) process.exitCode = 1;
  }
}

async function verificationOf(stack: Stack): Promise<VerificationInputs> {
  const inputs = inputsOf("Verification", await exportedState(stack));
  if (inputs === undefined || !verificationSchema.safeParse(inputs).success) throw notUp(stack);
  const found = inputs as unknown as VerificationInputs;
  if (found.smokeTable === "") throw new UserError(`The stack ${stack.name} has no registered table to read.`);
  return found;
}

/** On an emulated stack, where nobody else reads, what is vended is made to live shorter before the trial. */
async function shorten(stack: Stack): Promise<void> {
  if (!stack.isolated) return;
  const lifetime = Number((await setting(stack, "lakekeeper:stsTokenValiditySeconds")) ?? "3600");
  if (lifetime <= TRIAL_SECONDS) return;
  process.stdout.write(`What is vended lives ${lifetime} s; for this trial it is made ${TRIAL_SECONDS} s.\n`);
  await set(stack, "lakekeeper:stsTokenValiditySeconds", String(TRIAL_SECONDS));
  await pulumi(stack, changing(stack, "up"));
}

async function raise(stack: Stack, key: string): Promise<void> {
  const now = Number((await setting(stack, key)) ?? "1");
  process.stdout.write(`${key}: ${now} -> ${now + 1}\n`);
  await set(stack, key, String(now + 1));
}

async function setting(stack: Stack, key: string): Promise<string | undefined> {
  const get = ["config", "get", "--path", key, ...stackArguments(stack)];
  return run("pulumi", get, { cwd: checkout, env: stack.environment }).then(
    (text) => text.trim(),
    () => undefined,
  );
}

async function set(stack: Stack, key: string, value: string): Promise<void> {
  await pulumi(stack, ["config", "set", "--path", key, value, ...stackArguments(stack)]);
  if (stack.isolated) keepSettings(stack);
}
