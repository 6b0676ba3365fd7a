import pg from "pg";
import { explained, naming } from "./errors.ts";
import { tlsAttempts } from "./sslmode.ts";

export interface ServerSettings {
  host: string;
  port: number;
  /** The database that is connected to for all that is in none, or in that of the resource when it names none. */
  database: string;
  username: string;
  password: string;
  sslmode: string;
  /** Whether passwords may be read from the server's catalog. */
  superuser: boolean;
  /** Seconds; 0 waits without end. */
  connectTimeout: number;
  maxConnections: number;
}

export type Row = Record<string, unknown>;

/** What SQL is sent to: a transaction, or a database, on which each statement is a transaction of its own. */
export interface Queryable {
  /** The rows, named as Postgres names columns. */
  query(sql: string, values?: readonly unknown[]): Promise<Row[]>;
}

/**
 * A Postgres server as the real plugin (3.18.1) uses it: no connection before the first statement, none that stays open,
 * and one look at the version for each database.
 */
export class Server {
  readonly settings: ServerSettings;
  readonly #databases = new Map<string, Promise<Database>>();

  constructor(settings: ServerSettings) {
    this.settings = settings;
  }

  /** @param name the provider's database unless given */
  connect(name: string = this.settings.database): Promise<Database> {
    const known = this.#databases.get(name);
    if (known !== undefined) return known;
    const opened = Database.open(this.settings, name);
    this.#databases.set(name, opened);
    // The next one tries again.
    opened.catch(() => this.#databases.delete(name));
    return opened;
  }

  /** Runs the work in a transaction on a database, which is undone when the work fails. */
  async transaction<T>(
    database: string,
    work: (transaction: Queryable) => Promise<T>,
    end: "COMMIT" | "ROLLBACK" = "COMMIT",
  ): Promise<T> {
    return (await this.connect(database)).transaction(work, end);
  }
}

export class Database implements Queryable {
  readonly #pool: Pool;

  private constructor(pool: Pool) {
    this.#pool = pool;
  }

  static async open(settings: ServerSettings, name: string): Promise<Database> {
    const database = new Database(new Pool(settings, name));
    await naming(`error connecting to PostgreSQL server ${settings.host} (scheme: postgres)`, async () => {
      await database.query(";");
      await database.query("SELECT VERSION()");
    });
    return database;
  }

  query(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.#pool.use((client) => run(client, sql, values));
  }

  transaction<T>(work: (transaction: Queryable) => Promise<T>, end: "COMMIT" | "ROLLBACK"): Promise<T> {
    return this.#pool.use(async (client) => {
      await run(client, "BEGIN READ WRITE");
      try {
        const done = await work({ query: (sql, values) => run(client, sql, values) });
        await run(client, end);
        return done;
      } catch (error) {
        await run(client, "ROLLBACK").catch(() => {});
        throw error;
      }
    });
  }
}

/** At most so many connections at a time, each closed after its use: a database that somebody is in cannot be dropped. */
class Pool {
  readonly #settings: ServerSettings;
  readonly #database: string;
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(settings: ServerSettings, database: string) {
    this.#settings = settings;
    this.#database = database;
    this.#free = settings.maxConnections > 0 ? settings.maxConnections : Infinity;
  }

  async use<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      const client = await this.#connected();
      try {
        return await work(client);
      } finally {
        await client.end();
      }
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }

  async #connected(): Promise<pg.Client> {
    const { host, port, username, password, connectTimeout, sslmode } = this.#settings;
    const [first, ...others] = tlsAttempts(sslmode, host);
    const attempt = async (ssl: (typeof others)[number]): Promise<pg.Client> => {
      const client = new pg.Client({
        host,
        port,
        database: this.#database,
        user: username,
        password,
        ssl,
        types: { getTypeParser },
        connectionTimeoutMillis: connectTimeout * 1000,
        application_name: "Terraform provider",
      });
      // What happens to an idle connection, the next statement on it will say.
      client.on("error", () => {});
      await client.connect();
      return client;
    };
    try {
      return await attempt(first).catch((error: unknown) => {
        if (others[0] === undefined) throw error;
        return attempt(others[0]);
      });
    } catch (error) {
      throw explained(error, this.#settings);
    }
  }
}

/** Lists of names are read as lists of texts are. */
const getTypeParser: typeof pg.types.getTypeParser = (oid: number, format?: "text" | "binary") =>
  pg.types.getTypeParser(oid === 1003 ? 1009 : oid, format) as never;

async function run(client: pg.Client, sql: string, values: readonly unknown[] = []): Promise<Row[]> {
  try {
    const { rows } = await client.query<Row>(sql, [...values]);
    return rows;
  } catch (error) {
    throw explained(error);
  }
}
