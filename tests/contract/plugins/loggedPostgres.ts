import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import {
  HOST,
  initializeCluster,
  removeData,
  startCluster,
  STOP_SIGNAL,
  SUPERUSER,
} from "../../../platforms/local/cluster.ts";
import { freePort } from "../../../platforms/local/ports.ts";
import { stopProcess } from "../../../platforms/local/processId.ts";

/** A statement as a server logs it. */
export interface Statement {
  /** E.g. `admin@postgres`: the user and the database. */
  conn: string;
  /** With the parameters after it: `SELECT … -- $1 = 'app'`. */
  sql: string;
}

/** A throwaway Postgres that logs every statement. */
export interface LoggedPostgres {
  readonly port: number;
  /** Runs statements as the superuser `postgres`, which are not in the log. */
  run(sql: string, database?: string): Promise<Record<string, unknown>[]>;
  /** What others sent since the last time that this was asked. */
  statements(): Promise<Statement[]>;
  /** Drops every database and every role but the superusers. */
  empty(): Promise<void>;
  stop(): Promise<void>;
}

export async function startLoggedPostgres(): Promise<LoggedPostgres> {
  const scratch = await mkdtemp(join(tmpdir(), "logged-postgres-"));
  await chmod(scratch, 0o755);
  const cluster = {
    directory: join(scratch, "data"),
    port: await freePort(),
    superuserPassword: "superuser",
    logFile: join(scratch, "postgres.log"),
  };
  await initializeCluster(cluster);
  const id = await startCluster(cluster, { fsync: "off", log_statement: "all", log_line_prefix: "%u@%d " });
  // A test run that is interrupted leaves no server behind.
  const kill = () => process.kill(id.pid, "SIGQUIT");
  process.once("exit", kill);
  let seen = 0;

  async function run(sql: string, database = "postgres"): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ host: HOST, port: cluster.port, user: SUPERUSER, password: "superuser", database });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(sql)).rows;
    } finally {
      await client.end();
    }
  }

  return {
    port: cluster.port,
    run,
    async statements() {
      const log = await readFile(cluster.logFile, "utf8");
      const fresh = log.slice(seen);
      seen = log.length;
      return statementsIn(fresh).filter(({ conn }) => !conn.startsWith(`${SUPERUSER}@`));
    },
    async empty() {
      for (const { datname } of await run(
        "SELECT datname FROM pg_database WHERE NOT datistemplate AND datname <> 'postgres'",
      ))
        await run(`DROP DATABASE ${pg.escapeIdentifier(String(datname))} WITH (FORCE)`);
      for (const { rolname } of await run("SELECT rolname FROM pg_roles WHERE NOT rolsuper AND rolname !~ '^pg_'")) {
        const role = pg.escapeIdentifier(String(rolname));
        await run(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
      }
    },
    async stop() {
      process.removeListener("exit", kill);
      await stopProcess(id, STOP_SIGNAL);
      await removeData(cluster.directory);
      await rm(scratch, { recursive: true, force: true });
    },
  };
}

function statementsIn(log: string): Statement[] {
  // A line that begins with a tab goes on with the one before it.
  const lines = log.replaceAll("\n\t", " ").split("\n");
  const statements: Statement[] = [];
  for (const line of lines) {
    const [, conn, sql] = /^(\S*@\S*) LOG: {2}(?:statement|execute [^:]*): (.*)$/.exec(line) ?? [];
    if (conn !== undefined && sql !== undefined) statements.push({ conn, sql });
    const [, parameters] = /^\S*@\S* DETAIL: {2}[Pp]arameters: (.*)$/.exec(line) ?? [];
    const last = statements.at(-1);
    if (parameters !== undefined && last !== undefined) last.sql += ` -- ${parameters}`;
  }
  return statements;
}
