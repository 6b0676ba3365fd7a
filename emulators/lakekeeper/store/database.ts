import pg from "pg";
import { log } from "../log.ts";
import type { DatabaseSettings } from "../settings.ts";

export type Queryable = Pick<pg.ClientBase, "query">;

export class PoolError extends Error {}

/** Errors that may pass when one waits, such as a server that is just starting. */
function isTransient(error: unknown): boolean {
  const code = (error as { code?: string }).code ?? "";
  return /^(ECONN|ENOTFOUND|EAI_|EHOST|ENET|ETIMEDOUT|EPIPE|57P03|53300)/.test(code);
}

/** Opens a pool and proves that it works, trying again until the acquire timeout has passed, as sqlx does. */
async function openPool(
  side: "read" | "write",
  url: string,
  size: number,
  settings: DatabaseSettings,
): Promise<pg.Pool> {
  const target = new URL(url);
  log("INFO", "lakekeeper_storage_postgres", `Building PostgreSQL ${side} connection`, {
    host: target.hostname,
    port: Number(target.port || 5432),
    database: target.pathname.slice(1),
    username: target.username,
  });
  // "prefer" is what sqlx does when nothing is said; pg would take it for a demand to encrypt.
  if (/^(prefer|allow|disable)$/.test(target.searchParams.get("sslmode") ?? "")) target.searchParams.delete("sslmode");
  const deadline = Date.now() + settings.acquireTimeoutSeconds * 1000;
  const pool = new pg.Pool({
    connectionString: target.href,
    max: size,
    connectionTimeoutMillis: settings.acquireTimeoutSeconds * 1000,
    // Every lookup has an index. A plan made while tables were small must not go on reading them as a whole.
    options: "-c search_path=lakekeeper,public -c enable_seqscan=off",
  });
  pool.on("error", (error) =>
    log("WARN", "lakekeeper_storage_postgres", "Idle connection lost", { details: error.message }),
  );
  for (;;) {
    try {
      await pool.query("SELECT 1");
      return pool;
    } catch (error) {
      const waitedOut = Date.now() >= deadline;
      if (isTransient(error) && !waitedOut) {
        await new Promise((resolve) => setTimeout(resolve, Math.min(100, Math.max(0, deadline - Date.now()))));
        continue;
      }
      await pool.end();
      const cause = waitedOut
        ? "pool timed out while waiting for an open connection"
        : `error returned from database: ${error instanceof Error ? error.message : String(error)}`;
      throw new PoolError(`Error creating ${side} pool.\n\nCaused by:\n    ${cause}`);
    }
  }
}

/** The two pools of the server. Names in queries resolve in the schema `lakekeeper`. */
export class Database {
  readonly read: pg.Pool;
  readonly write: pg.Pool;

  private constructor(read: pg.Pool, write: pg.Pool) {
    this.read = read;
    this.write = write;
  }

  /** Throws PoolError when one of the pools cannot be opened within the acquire timeout. */
  static async open(settings: DatabaseSettings): Promise<Database> {
    const read = await openPool("read", settings.readUrl, settings.readConnections, settings);
    try {
      return new Database(read, await openPool("write", settings.writeUrl, settings.writeConnections, settings));
    } catch (error) {
      await read.end();
      throw error;
    }
  }

  /** For commands that only write; both sides are the write pool. */
  static async openWrite(settings: DatabaseSettings): Promise<Database> {
    const write = await openPool("write", settings.writeUrl, settings.writeConnections, settings);
    return new Database(write, write);
  }

  async transaction<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await this.write.connect();
    let failure: Error | undefined;
    try {
      await client.query("BEGIN");
      const result = await work(client);
      await client.query("COMMIT");
      return result;
    } catch (error) {
      await client.query("ROLLBACK").catch((lost: Error) => (failure = lost));
      throw error;
    } finally {
      client.release(failure);
    }
  }

  async close(): Promise<void> {
    await Promise.all([...new Set([this.read, this.write])].map((pool) => pool.end()));
  }
}

/** The name of the constraint an insert or update violated, when that is why it failed. */
export function violatedConstraint(error: unknown): string | undefined {
  const { code, constraint } = error as { code?: string; constraint?: string };
  return code?.startsWith("23") === true ? (constraint ?? "unknown") : undefined;
}
