import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { UserError } from "../../clients/errors.ts";
import { withLock } from "./lock.ts";
import { secretsOf, tail } from "./logs.ts";
import { requireFreePort } from "./ports.ts";
import { isAlive, stopProcess, whileAlive } from "./processId.ts";
import { listRecords, readRecord, recordFile, recordOrStop, removeRecord, type ProcessRecord } from "./records.ts";
import { spawnDetached, type SpawnOptions } from "./spawn.ts";

/** A server process on a loopback port. */
export interface Service extends SpawnOptions {
  /** The stack's folder for state. */
  readonly state: string;
  readonly name: string;
  readonly port: number;
  /** Answers 2xx once the service can be used. */
  readonly healthUrl: string;
  readonly startTimeoutSeconds: number;
  /** Of its program's files; see code.ts. */
  readonly codeDigest: string;
  /** How the operator chooses another port, for the error when it is taken. */
  readonly portRemedy?: string;
}

const PROBE_MS = 2_000;
/** How long one that runs may be out of order, as Lakekeeper is while Postgres starts again, before it is replaced. */
const RECOVERY_SECONDS = 15;

/** Makes sure that the service runs as it is described and answers: finds it again, starts it or replaces it. */
export async function ensureRunning(service: Service): Promise<ProcessRecord> {
  return withLock(recordFile(service.state, service.name), async () => {
    const record = await readRecord(service.state, service.name);
    if (record && (await isAlive(record))) {
      const wanted = record.fingerprint === fingerprintOf(service);
      const patience = Math.min(RECOVERY_SECONDS, service.startTimeoutSeconds);
      if (wanted && (await whileAlive(record, (signal) => becomesHealthy(service, patience, signal)))) return record;
      console.log(`${service.name} ${wanted ? "does not answer" : "has changed"} and is started again`);
      await stopProcess(record);
    }
    return start(service);
  });
}

/** Why the service has to be started, or undefined when it is in order. */
export async function whyNotRunning(
  service: Pick<Service, "state" | "name" | "healthUrl">,
): Promise<string | undefined> {
  const record = await readRecord(service.state, service.name);
  if (!record || !(await isAlive(record))) return "is not running";
  return (await isHealthy(service.healthUrl)) ? undefined : `does not answer at ${service.healthUrl}`;
}

async function start(service: Service): Promise<ProcessRecord> {
  await requireFreePort(service.port, service.name, service.portRemedy);
  const { id, log, exited } = await spawnDetached(service);
  const record: ProcessRecord = {
    ...id,
    name: service.name,
    port: service.port,
    fingerprint: fingerprintOf(service),
    startedAt: new Date().toISOString(),
    stopSignal: "SIGTERM",
  };
  await recordOrStop(service.state, record);

  const stopWaiting = new AbortController();
  const outcome = await Promise.race([
    exited.then((how) => `ended with ${how}`),
    becomesHealthy(service, service.startTimeoutSeconds, stopWaiting.signal),
  ]);
  stopWaiting.abort();
  if (outcome === true) return record;

  await stopProcess(id);
  await removeRecord(service.state, service.name);
  const what = outcome || `did not answer at ${service.healthUrl} within ${service.startTimeoutSeconds} s`;
  const said = await tail(log, secretsOf(service.environment));
  throw new UserError(
    `${service.name} ${what}. Its log is ${log.path}${said ? ` and ends with:\n${said}` : ", empty."}`,
  );
}

async function becomesHealthy(
  { name, healthUrl }: Pick<Service, "name" | "healthUrl">,
  seconds: number,
  signal?: AbortSignal,
): Promise<boolean> {
  const deadline = Date.now() + seconds * 1_000;
  for (let nextNotice = Date.now() + 5_000; !signal?.aborted; await delay(50)) {
    if (await isHealthy(healthUrl)) return true;
    if (Date.now() > deadline) return false;
    if (Date.now() > nextNotice) {
      console.log(`waiting for ${name} at ${healthUrl}`);
      nextNotice = Date.now() + 10_000;
    }
  }
  return false;
}

async function isHealthy(url: string): Promise<boolean> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(PROBE_MS) });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}

function fingerprintOf({ command, environment, cwd, port, codeDigest }: Service): string {
  const variables = Object.entries(environment).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256")
    .update(JSON.stringify([command, variables, cwd, port, codeDigest]))
    .digest("hex");
}

export async function stopService(state: string, name: string): Promise<void> {
  await withLock(recordFile(state, name), async () => {
    const record = await readRecord(state, name);
    if (record) await stopProcess(record, record.stopSignal);
    await removeRecord(state, name);
  });
}

/**
 * Stops every process that a stack has left running, also when the engine's state is lost.
 *
 * @returns the names of those that were running.
 */
export async function stopAll(state: string): Promise<string[]> {
  const stopped: string[] = [];
  for (const record of await listRecords(state)) {
    if (await isAlive(record)) stopped.push(record.name);
    await stopService(state, record.name);
  }
  return stopped;
}
