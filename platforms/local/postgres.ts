import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { UserError } from "../../clients/errors.ts";
import {
  answers,
  asSuperuser,
  clusterVersion,
  ensureRoleAndDatabase,
  hasData,
  initializeCluster,
  isWrongPassword,
  removeData,
  runOffline,
  serverOn,
  startCluster,
  STOP_SIGNAL,
  SUPERUSER,
  untilAnswers,
  type Cluster,
} from "./cluster.ts";
import { withLock } from "./lock.ts";
import { isAlive, stopProcess, whileAlive, type ProcessId } from "./processId.ts";
import { readRecord, recordFile, recordOrStop, removeRecord } from "./records.ts";

/** The Postgres of a stack: one cluster, one role, one database. */
export interface PostgresOptions {
  /** The stack's folder for state. */
  readonly state: string;
  readonly port: number;
  readonly superuserPassword: string;
  readonly role: string;
  readonly rolePassword: string;
  readonly database: string;
  /** How the operator chooses another port, for the error when it is taken. */
  readonly portRemedy?: string;
}

/** Name of its record and of its log. */
const NAME = "postgres";
/** How long a server may take to answer again, after a crash for instance, before it is replaced. */
const RECOVERY_MS = 15_000;

function clusterOf(options: PostgresOptions): Cluster {
  const { state } = options;
  return { ...options, directory: join(state, NAME), logFile: join(state, "logs", `${NAME}.log`) };
}

export interface RunningPostgres extends ProcessId {
  /** The cluster's own identity: another one is another set of data. */
  readonly systemIdentifier: string;
}

/** Makes sure that the server runs with its role and database: finds it again, starts it, or makes its data first. */
export async function ensurePostgres(options: PostgresOptions): Promise<RunningPostgres> {
  return withLock(recordFile(options.state, NAME), async () => {
    const cluster = clusterOf(options);
    let server = (await inOrder(options.state, cluster)) ?? (await startAnew(options.state, cluster));
    if (!(await acceptsPassword(cluster))) {
      await stopProcess(server, STOP_SIGNAL);
      await setSuperuserPassword(cluster);
      server = await startAnew(options.state, cluster);
    }
    const { role, rolePassword, database } = options;
    await ensureRoleAndDatabase(cluster, { role, password: rolePassword, database });
    return { ...server, systemIdentifier: await systemIdentifier(cluster) };
  });
}

/** Why the server has to be started, or undefined when it is in order. */
export async function whyPostgresNotRunning(options: PostgresOptions): Promise<string | undefined> {
  const cluster = clusterOf(options);
  if (!(await hasData(cluster.directory))) return "has lost its data folder";
  const record = await readRecord(options.state, NAME);
  if (!record || !(await isAlive(record))) return "is not running";
  if (record.fingerprint !== (await fingerprintOf(cluster))) return "runs with other settings";
  return (await answers(cluster)) ? undefined : `does not answer on port ${options.port}`;
}

/** Stops the server and removes its data. */
export async function deletePostgres(state: string): Promise<void> {
  await withLock(recordFile(state, NAME), async () => {
    const directory = join(state, NAME);
    const server = await runningServer(state, directory);
    if (server) await stopProcess(server, STOP_SIGNAL);
    await removeData(directory);
    await removeRecord(state, NAME);
  });
}

async function runningServer(state: string, directory: string): Promise<ProcessId | undefined> {
  const record = await readRecord(state, NAME);
  return record && (await isAlive(record)) ? record : serverOn(directory);
}

/** The server when it runs as it should. One that does not is stopped. */
async function inOrder(state: string, cluster: Cluster): Promise<ProcessId | undefined> {
  const server = await runningServer(state, cluster.directory);
  if (!server) return undefined;
  const record = await readRecord(state, NAME);
  const asWanted = record?.fingerprint === (await fingerprintOf(cluster)) && (await hasData(cluster.directory));
  const recovers = async (signal: AbortSignal) => (await untilAnswers(cluster, RECOVERY_MS, signal)) === undefined;
  if (asWanted && (await whileAlive(server, recovers))) return server;
  console.log(`Postgres ${asWanted ? "does not answer" : "has changed"} and is started again`);
  await stopProcess(server, STOP_SIGNAL);
  return undefined;
}

async function startAnew(state: string, cluster: Cluster): Promise<ProcessId> {
  await initializeCluster(cluster);
  const server = await startCluster(cluster);
  await recordOrStop(state, {
    ...server,
    name: NAME,
    port: cluster.port,
    fingerprint: await fingerprintOf(cluster),
    startedAt: new Date().toISOString(),
    stopSignal: STOP_SIGNAL,
  });
  return server;
}

async function fingerprintOf({ port }: Cluster): Promise<string> {
  return createHash("sha256")
    .update(JSON.stringify([port, await clusterVersion()]))
    .digest("hex");
}

async function acceptsPassword(cluster: Cluster): Promise<boolean> {
  try {
    await asSuperuser(cluster, (client) => client.query("SELECT 1"));
    return true;
  } catch (error) {
    if (isWrongPassword(error)) return false;
    throw error;
  }
}

/** Data that is here but was made with another password, by a stack whose state is lost, is taken over. */
async function setSuperuserPassword({ directory, superuserPassword }: Cluster): Promise<void> {
  const folder = await realpath(directory);
  await runOffline(folder, `ALTER ROLE ${SUPERUSER} PASSWORD ${pg.escapeLiteral(superuserPassword)}`).catch(
    ({ stderr }: { stderr?: string }) => {
      throw new UserError(`Postgres could not be given a new password for its data in ${folder}.\n${stderr}`);
    },
  );
}

async function systemIdentifier(cluster: Cluster): Promise<string> {
  const { rows } = await asSuperuser(cluster, (client) =>
    client.query<{ id: string }>("SELECT system_identifier::text AS id FROM pg_control_system()"),
  );
  return rows[0]?.id ?? "";
}
