import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, readlink, realpath, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import { UserError } from "../../clients/errors.ts";
import { tail } from "./logs.ts";
import { requireFreePort } from "./ports.ts";
import { canReach, giveTo, packageFolder, postgresBinaries } from "./postgresBinaries.ts";
import { commandOf, startTimeOf, stopProcess, type ProcessId } from "./processId.ts";
import { spawnDetached } from "./spawn.ts";

export const HOST = "127.0.0.1";
export const SUPERUSER = "postgres";
/** Where root puts data that the user who runs Postgres could not reach in the checkout. */
const SHARED_DATA = "/var/lib/lakekeeper-stack";
const START_SECONDS = 60;
/** Stops the server without waiting for its clients. */
export const STOP_SIGNAL = "SIGINT";

export interface Cluster {
  /** Data folder; a symbolic link to it when it has to be elsewhere. */
  readonly directory: string;
  readonly port: number;
  readonly superuserPassword: string;
  readonly logFile: string;
  /** How the operator chooses another port, for the error when it is taken. */
  readonly portRemedy?: string;
}

/** One machine, one catalog: little memory, no processes for what is not used, and nothing but loopback. */
const SETTINGS = {
  listen_addresses: HOST,
  unix_socket_directories: "",
  shared_buffers: "16MB",
  max_connections: "50",
  max_wal_size: "256MB",
  wal_level: "minimal",
  max_wal_senders: "0",
  max_worker_processes: "2",
  max_parallel_workers: "0",
  max_logical_replication_workers: "0",
  autovacuum_max_workers: "1",
  io_method: "sync",
  jit: "off",
  // A statement may hold a password, so the log shows the error alone.
  log_min_error_statement: "panic",
};

/** Changes when a server has to be started anew to be of this release and with these settings. */
export async function clusterVersion(): Promise<string> {
  const { version } = await packageFolder();
  return JSON.stringify([version, SETTINGS]);
}

export interface NewCluster extends Pick<Cluster, "directory" | "superuserPassword"> {
  /** @default "postgres" */
  readonly superuser?: string;
  /** Made at once, beside those that every cluster has. */
  readonly database?: string;
}

/** Makes the data folder with initdb, unless it is there. */
export async function initializeCluster(cluster: NewCluster): Promise<void> {
  const { directory, superuserPassword, superuser = SUPERUSER, database } = cluster;
  const folder = await dataFolder(directory);
  if (await isInitialized(folder)) return;
  const { initdb, runAs } = await postgresBinaries();
  const scratch = await mkdtemp(join(tmpdir(), "lakekeeper-stack-"));
  // Made beside and renamed, so that an initdb cut short is never taken for a cluster.
  const partial = `${folder}.partial`;
  try {
    const passwordFile = join(scratch, "password");
    await writeFile(passwordFile, superuserPassword, { mode: 0o600 });
    for (const path of [scratch, passwordFile]) await giveTo(path, runAs);
    await rm(partial, { recursive: true, force: true });
    await mkdir(partial);
    await giveTo(partial, runAs);
    const args = [
      `--pgdata=${partial}`,
      `--username=${superuser}`,
      `--pwfile=${passwordFile}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      "--locale=C",
      "--no-instructions",
    ];
    await promisify(execFile)(initdb, args, { ...runAs, cwd: "/", env: { PATH: process.env["PATH"], LC_ALL: "C" } });
    if (database !== undefined) await runOffline(partial, `CREATE DATABASE ${pg.escapeIdentifier(database)}`);
    await rm(folder, { recursive: true, force: true });
    await rename(partial, folder);
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw explained(`Postgres could not make its data folder ${folder}`, errorText(error));
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Runs a statement, which must be one line, on a data folder that no server uses. */
export async function runOffline(folder: string, statement: string): Promise<void> {
  const { postgres, runAs } = await postgresBinaries();
  const args = ["--single", "-D", folder, "-c", "log_min_error_statement=panic", "postgres"];
  const running = promisify(execFile)(postgres, args, { ...runAs, cwd: "/" });
  running.child.stdin?.end(`${statement}\n`);
  await running;
}

/** True when the data folder holds a cluster. */
export async function hasData(directory: string): Promise<boolean> {
  const folder = await realpath(directory).catch(() => undefined);
  return folder !== undefined && (await isInitialized(folder));
}

async function isInitialized(folder: string): Promise<boolean> {
  return (await stat(join(folder, "PG_VERSION")).catch(() => undefined)) !== undefined;
}

/** Removes the data folder, wherever it is. The server must be stopped. */
export async function removeData(directory: string): Promise<void> {
  const target = await readlink(directory).catch(() => undefined);
  // Backends of a server that was killed may write for a moment longer than it lives.
  const patiently = { recursive: true, force: true, maxRetries: 20, retryDelay: 50 };
  if (target !== undefined) await rm(target, patiently);
  await rm(directory, patiently);
}

/** Starts the server, detached, and waits until it answers. Settings are those of postgresql.conf. */
export async function startCluster(
  cluster: Cluster,
  settings: Readonly<Record<string, string>> = {},
): Promise<ProcessId> {
  const folder = await realpath(cluster.directory);
  const { postgres, runAs } = await postgresBinaries();
  const command = serverCommand(postgres, folder, cluster.port, settings);
  const deadline = Date.now() + START_SECONDS * 1_000;
  for (;;) {
    await removeStaleLock(folder);
    await requireFreePort(cluster.port, "Postgres", cluster.portRemedy);
    const { id, log, exited } = await spawnDetached({
      command,
      environment: { LC_ALL: "C" },
      cwd: "/",
      logFile: cluster.logFile,
      ...runAs,
    });
    const stopWaiting = new AbortController();
    const failure = await Promise.race([exited, untilAnswers(cluster, deadline - Date.now(), stopWaiting.signal)]);
    stopWaiting.abort();
    if (failure === undefined) return id;
    const said = await tail(log);
    // Children of a server that was killed take a moment to notice.
    if (/pre-existing shared memory block/.test(said) && Date.now() < deadline) {
      await delay(100);
      continue;
    }
    await stopProcess(id, STOP_SIGNAL);
    throw explained(`Postgres did not start (${failure}); its log is ${log.path}`, said);
  }
}

export function serverCommand(
  postgres: string,
  folder: string,
  port: number,
  settings: Readonly<Record<string, string>>,
): string[] {
  const options = Object.entries({ ...SETTINGS, ...settings }).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  return [postgres, "-D", folder, "-p", String(port), ...options];
}

/** Postgres takes any live process with the pid in its lock file for another server; after a reboot that can be anything. */
export async function removeStaleLock(folder: string): Promise<void> {
  if (!(await serverOn(folder))) await rm(join(folder, "postmaster.pid"), { force: true });
}

/** Waits until the server takes connections. Resolves with the reason when it does not in time. */
export async function untilAnswers(
  cluster: Cluster,
  milliseconds: number,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const deadline = Date.now() + milliseconds;
  for (let nextNotice = Date.now() + 5_000; !signal?.aborted; await delay(30)) {
    if (await answers(cluster)) return undefined;
    if (Date.now() > deadline) return `no answer within ${Math.round(milliseconds / 1_000)} s`;
    if (Date.now() > nextNotice) {
      console.log(`waiting for Postgres on port ${cluster.port}`);
      nextNotice = Date.now() + 10_000;
    }
  }
  return undefined;
}

/** True when the server answers a query, or refuses the password: that too takes a server that runs. */
export async function answers(cluster: Cluster): Promise<boolean> {
  try {
    await asSuperuser(cluster, (client) => client.query("SELECT 1"));
    return true;
  } catch (error) {
    return isWrongPassword(error);
  }
}

/** Runs `work` with a connection of the superuser to `database`. */
export async function asSuperuser<T>(
  { port, superuserPassword }: Pick<Cluster, "port" | "superuserPassword">,
  work: (client: pg.Client) => Promise<T>,
  database = "postgres",
): Promise<T> {
  const client = new pg.Client({
    host: HOST,
    port,
    user: SUPERUSER,
    password: superuserPassword,
    database,
    connectionTimeoutMillis: 5_000,
    query_timeout: 30_000,
  });
  // Without a listener, a server that goes away takes this process with it.
  client.on("error", () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}

export function isWrongPassword(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "28P01";
}

/** A role that may log in, with this password, and a database of its own. What is there is brought up to date. */
export async function ensureRoleAndDatabase(
  cluster: Pick<Cluster, "port" | "superuserPassword">,
  { role, password, database }: { role: string; password: string; database: string },
): Promise<void> {
  await asSuperuser(cluster, async (client) => {
    const roleName = pg.escapeIdentifier(role);
    const databaseName = pg.escapeIdentifier(database);
    const { rowCount: roles } = await client.query("SELECT FROM pg_roles WHERE rolname = $1", [role]);
    if (!roles) await client.query(`CREATE ROLE ${roleName}`);
    await client.query(`ALTER ROLE ${roleName} LOGIN NOSUPERUSER PASSWORD ${pg.escapeLiteral(password)}`);
    const { rowCount: databases } = await client.query("SELECT FROM pg_database WHERE datname = $1", [database]);
    if (!databases) await client.query(`CREATE DATABASE ${databaseName} OWNER ${roleName}`);
    await client.query(`ALTER DATABASE ${databaseName} OWNER TO ${roleName}`);
    await client.query(`REVOKE ALL ON DATABASE ${databaseName} FROM PUBLIC`);
  });
}

/** Where the data of a cluster is, or is going to be. */
async function dataFolder(directory: string): Promise<string> {
  const existing = await realpath(directory).catch(() => undefined);
  if (existing !== undefined) return existing;
  const { runAs } = await postgresBinaries();
  const parent = dirname(resolve(directory));
  await mkdir(parent, { recursive: true });
  if (await canReach(parent, runAs)) {
    await rm(directory, { force: true });
    return resolve(directory);
  }
  const name = createHash("sha256").update(resolve(directory)).digest("hex").slice(0, 16);
  const elsewhere = join(SHARED_DATA, name);
  await mkdir(SHARED_DATA, { recursive: true, mode: 0o755 });
  await rm(directory, { force: true });
  await symlink(elsewhere, directory);
  return elsewhere;
}

/** The server that runs on a data folder. */
export async function serverOn(directory: string): Promise<ProcessId | undefined> {
  const folder = await realpath(directory).catch(() => undefined);
  if (folder === undefined) return undefined;
  const pid = Number((await readFile(join(folder, "postmaster.pid"), "utf8").catch(() => "")).split("\n")[0]);
  if (!(pid > 0) || !(await commandOf(pid))?.includes(` -D ${folder} `)) return undefined;
  const startTime = await startTimeOf(pid);
  return startTime === undefined ? undefined : { pid, startTime };
}

function errorText(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message?: string };
  return stderr || message || String(error);
}

/** An error with what Postgres said, and the remedy where there is a known one. */
function explained(problem: string, said: string): UserError {
  const remedies: [RegExp, string][] = [
    [
      /no space left on device|ENOSPC|check free disk space/i,
      "The disk is full: free some space and run it again; nothing is lost.",
    ],
    [/initialized by PostgreSQL version/, "The data is of another major version: dump it with that one, or remove it."],
    [/lock file "postmaster.pid" already exists/, "Another server runs on this data: stop it."],
    [/could not bind|Address already in use/, "Its port is taken: stop what listens there, or choose another port."],
  ];
  const remedy = remedies.find(([pattern]) => pattern.test(said))?.[1];
  return new UserError([`${problem}.`, remedy, said].filter(Boolean).join("\n"));
}
