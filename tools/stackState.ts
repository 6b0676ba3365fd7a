import { z } from "zod";
import { run } from "./run.ts";
import { checkout, type Stack } from "./stack.ts";

const deployment = z.object({
  deployment: z.object({
    resources: z.array(z.object({ type: z.string(), inputs: z.record(z.string(), z.unknown()).optional() })).nullish(),
  }),
});

/** A secret in an exported state is this key with a value, beside its plain text as JSON. */
const secretKey = "4dabf18193072939515e22adb298388d";

/** The state of a stack as the engine exports it, secrets in the clear. */
export async function exportedState(stack: Stack): Promise<string> {
  const options = ["stack", "export", "--show-secrets", "--stack", stack.name];
  return run("pulumi", options, { cwd: checkout, env: stack.environment });
}

/**
 * What the one resource of a type was last given; undefined when the stack has none.
 *
 * @param type the last part of it, such as `Verification`
 */
export function inputsOf(type: string, exported: string): Record<string, unknown> | undefined {
  const { resources } = deployment.parse(JSON.parse(exported)).deployment;
  const inputs = resources?.find((resource) => resource.type.endsWith(`/lakekeeper:${type}`))?.inputs;
  return inputs && (unwrap(inputs) as Record<string, unknown>);
}

function unwrap(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unwrap);
  if (typeof value !== "object" || value === null) return value;
  if (secretKey in value && "plaintext" in value) return unwrap(JSON.parse(String(value.plaintext)));
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, unwrap(inner)]));
}
