import { isSecret, type Plugin, type Properties } from "../../../emulators/plugins/protocol.ts";
import type { RecordedCall } from "./recording.ts";

const methods: Record<string, (plugin: Plugin, request: never) => unknown> = {
  CheckConfig: (plugin, request) => plugin.checkConfig(request),
  DiffConfig: (plugin, request) => plugin.diffConfig?.(request),
  Configure: (plugin, request) => plugin.configure(request),
  Check: (plugin, request) => plugin.check(request),
  Diff: (plugin, request) => plugin.diff(request),
  Create: (plugin, request) => plugin.create(request),
  Read: (plugin, request) => plugin.read(request),
  Update: (plugin, request) => plugin.update(request),
  Delete: async (plugin, request) => (await plugin.delete(request)) ?? {},
  Invoke: (plugin, request) => plugin.invoke(request),
};

/** Whether a plugin of this project answers such a call at all: what it does not, the engine is told by the server. */
export function isAnswered({ method }: RecordedCall): boolean {
  return method in methods;
}

/** What the plugin answers, or what gRPC says of its failure, in the form of `recordedAnswer`. */
export async function answerOf(plugin: Plugin, method: string, request: unknown): Promise<unknown> {
  try {
    return await methods[method]!(plugin, request as never);
  } catch (error) {
    return { failed: `rpc error: code = Unknown desc = ${(error as Error).message}` };
  }
}

export function recordedAnswer({ response, errors }: RecordedCall): unknown {
  return errors ? { failed: errors[0] } : response;
}

/**
 * An answer with secrets as the recording writes them, and without `__pulumi_raw_state_delta`, in which the real plugin
 * keeps for itself how Terraform's state differs.
 *
 * @param hidden names of properties that the recording hides, though they were sent in the clear
 */
export function comparable(value: unknown, hidden: readonly string[] = []): unknown {
  if (Array.isArray(value)) return value.map((item) => comparable(item, hidden));
  if (typeof value !== "object" || value === null) return value;
  const properties = { ...(value as Properties) };
  delete properties["__pulumi_raw_state_delta"];
  if (isSecret(properties)) return "<secret>";
  for (const name of hidden) if (typeof properties[name] === "string") properties[name] = "<secret>";
  return Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, comparable(inner, hidden)]));
}
