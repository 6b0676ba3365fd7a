import { setTimeout as delay } from "node:timers/promises";
import { clock } from "../../../clients/retry.ts";
import type { Railway } from "../../../emulators/railway/server.ts";
import { configure } from "../../../sdks/railway/client/client.ts";
import service from "../../../sdks/railway/service.provider.ts";
import { startTestRailway, TOKEN, type TestRailway } from "./support.ts";

const { now, sleep } = clock;

/** A fault's body: what Railway says to a dead token and to a denial alike. */
export const NOT_AUTHORIZED = 'body {"data":null,"errors":[{"message":"Not Authorized"}]}';

/** The faults that a mutation must outlive: done or not, its effect is there once. */
export const OUTLIVED = [
  "after, status 504, first 1",
  "after, reset, first 1",
  'after, first 1, body {"data":null,"errors":[{"message":"Problem processing request"}]}',
  'after, first 1, body {"data":null}',
  "before, status 429, first 2",
  "before, status 504, first 1",
  'before, first 1, body {"data":null,"errors":[{"message":"You are doing this too quickly"}]}',
];

/** What a read must not take for a deletion. */
export const NO_DELETION = ["status 429", "status 503", "status 500", NOT_AUTHORIZED];

/**
 * An emulator that the providers of this process are configured for, and a clock that hardly waits: what one waits for
 * passes on it, and Railway, which has its own, gets a moment.
 */
export async function startProviders(): Promise<TestRailway> {
  const railway = await startTestRailway();
  let skipped = 0;
  clock.now = () => now() + skipped;
  clock.sleep = async (milliseconds) => {
    skipped += milliseconds;
    await delay(5);
  };
  await use(railway, TOKEN);
  jest.spyOn(console, "log").mockImplementation(() => undefined);
  jest.spyOn(console, "warn").mockImplementation(() => undefined);
  return railway;
}

/** Configures the providers as the engine does. */
export async function use(
  railway: Railway,
  token: string,
  key: "railway:token" | "railway:projectToken" = "railway:token",
): Promise<void> {
  const config: Record<string, string> = { "railway:endpoint": railway.url, [key]: token };
  await configure({ config: { get: (name: string) => config[name] } });
}

export async function stopProviders(railway: TestRailway): Promise<void> {
  Object.assign(clock, { now, sleep });
  jest.restoreAllMocks();
  await railway.stop();
}

/** A project with a service in it, which the provider has made. */
export async function placeWithService(
  railway: TestRailway,
  name = "web",
): Promise<{ projectId: string; environmentId: string; serviceId: string }> {
  const place = await railway.project();
  const { id } = await service.create({ ...place, name });
  return { ...place, serviceId: id };
}

/** How often an operation was called. */
export function times(railway: Railway, operation: string): number {
  return railway.calls.filter((call) => call.operation === operation).length;
}

/** Stages a change, as a person does on railway.com. */
export async function stage(
  railway: TestRailway,
  { environmentId, serviceId }: { environmentId: string; serviceId: string },
): Promise<void> {
  await railway.call(
    "mutation ($e: String!, $input: EnvironmentConfig!) { environmentStageChanges(environmentId: $e, input: $input) { id } }",
    { e: environmentId, input: { services: { [serviceId]: { deploy: { startCommand: "staged" } } } } },
  );
}
