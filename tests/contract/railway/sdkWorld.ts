import { clock } from "../../../clients/retry.ts";
import { configure } from "../../../sdks/railway/client/client.ts";
import { ScriptedApi } from "./scriptedApi.ts";

const realSleep = clock.sleep;

/** A scripted API that the providers of this process are configured for, and a clock that does not wait. */
export async function scriptedWorld(
  token: { key: string; value: string } = { key: "railway:token", value: "account-token" },
): Promise<ScriptedApi> {
  const api = await ScriptedApi.start();
  clock.sleep = async () => undefined;
  const config: Record<string, string> = { "railway:endpoint": api.url, [token.key]: token.value };
  await configure({ config: { get: (key: string) => config[key] } });
  jest.spyOn(console, "log").mockImplementation(() => undefined);
  jest.spyOn(console, "warn").mockImplementation(() => undefined);
  return api;
}

export async function leave(api: ScriptedApi): Promise<void> {
  clock.sleep = realSleep;
  jest.restoreAllMocks();
  await api.close();
}

export const GATEWAY_TIMEOUT = { status: 504, body: "<html>gateway timeout</html>" } as const;
export const errors = (message: string): { errors: { message: string }[] } => ({ errors: [{ message }] });
export const page = <Node>(nodes: readonly Node[]): object => ({
  edges: nodes.map((node) => ({ node })),
  pageInfo: { hasNextPage: false, endCursor: null },
});

/** A failure of a provider, with what it hands to the engine. */
export function failureOf(
  call: Promise<unknown>,
): Promise<Error & { id?: string; properties?: Record<string, unknown> }> {
  return call.then(
    () => Promise.reject(new Error("it did not fail")),
    (error: Error) => error,
  );
}
