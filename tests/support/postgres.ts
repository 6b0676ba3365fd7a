import { randomBytes } from "node:crypto";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  ensureRoleAndDatabase,
  HOST,
  initializeCluster,
  removeData,
  startCluster,
  STOP_SIGNAL,
} from "../../platforms/local/cluster.ts";
import { freePort } from "../../platforms/local/ports.ts";
import { stopProcess } from "../../platforms/local/processId.ts";

export interface TestPostgres {
  readonly port: number;
  /** URL of a database for the superuser. */
  url(database: string): string;
  /** Makes a database with a role of its own, both of that name; returns the role's URL. */
  createDatabase(name: string): Promise<string>;
  stop(): Promise<void>;
}

/** A throwaway Postgres: real, but its data does not survive a crash of the machine. */
export async function startTestPostgres(): Promise<TestPostgres> {
  const scratch = await mkdtemp(join(tmpdir(), "test-postgres-"));
  await chmod(scratch, 0o755);
  const superuserPassword = randomBytes(12).toString("hex");
  const cluster = {
    directory: join(scratch, "data"),
    port: await freePort(),
    superuserPassword,
    logFile: join(scratch, "postgres.log"),
  };
  await initializeCluster(cluster);
  const id = await startCluster(cluster, { fsync: "off", full_page_writes: "off", synchronous_commit: "off" });
  // A test run that is interrupted leaves no server behind.
  const kill = () => process.kill(id.pid, "SIGQUIT");
  process.once("exit", kill);
  const url = (user: string, password: string, database: string) =>
    `postgresql://${user}:${password}@${HOST}:${cluster.port}/${database}`;
  return {
    port: cluster.port,
    url: (database) => url("postgres", superuserPassword, database),
    async createDatabase(name) {
      const password = `p${randomBytes(12).toString("hex")}`;
      await ensureRoleAndDatabase(cluster, { role: name, password, database: name });
      return url(name, password, name);
    },
    async stop() {
      process.removeListener("exit", kill);
      await stopProcess(id, STOP_SIGNAL);
      await removeData(cluster.directory);
      await rm(scratch, { recursive: true, force: true });
    },
  };
}
