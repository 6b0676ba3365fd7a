import { statSync } from "node:fs";
import { resolve } from "node:path";
import pg from "pg";
import { z } from "zod";
import { UserError } from "./errors.ts";
import { querySqlite } from "./sqlite.ts";

export interface SqlCatalogSource {
  /**
   * SQLAlchemy URI, as PyIceberg's SqlCatalog takes it: `sqlite:///relative.db`, `sqlite:////absolute.db`,
   * `postgresql://user:password@host:5432/database`, also with a driver (`postgresql+psycopg2://`).
   */
  readonly uri: string;
  /** The catalog's name in that database. Needed only when several catalogs share it; empty is as good as absent. */
  readonly catalogName?: string | undefined;
}

export interface SqlCatalogPointers {
  readonly catalogName: string;
  /** From table, as in `main.default.t000`, to the location of its current metadata file. */
  readonly tables: Record<string, string>;
}

/**
 * Reads which tables a PyIceberg SqlCatalog holds and where their metadata is. Nothing is written: SQLite is opened
 * read-only, Postgres is read in a read-only transaction. Views are left out.
 *
 * @throws UserError when the database cannot be read or the catalog in it is not clear
 */
export async function readSqlCatalog({ uri, catalogName }: SqlCatalogSource): Promise<SqlCatalogPointers> {
  const shownUri = redact(uri);
  const tables = (await readRows(uri, shownUri)).filter(isTable);
  const names = [...new Set(tables.map((table) => table.catalog_name))].sort();
  const chosen = chooseCatalog(names, catalogName || undefined, shownUri);
  return {
    catalogName: chosen,
    tables: Object.fromEntries(
      tables
        .filter((table) => table.catalog_name === chosen)
        .map((table) => [tableKey(table, shownUri), table.metadata_location ?? ""] as const)
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    ),
  };
}

/** A row of PyIceberg's `iceberg_tables`. Databases made by old versions have no `iceberg_type`. */
const tableRow = z.object({
  catalog_name: z.string(),
  table_namespace: z.string(),
  table_name: z.string(),
  metadata_location: z.string().nullable(),
  iceberg_type: z.string().nullish(),
});

type TableRow = z.infer<typeof tableRow>;

function isTable(row: TableRow): boolean {
  return row.iceberg_type == null || row.iceberg_type === "TABLE";
}

/** SqlCatalog stores a namespace as one dotted string, so a dot in a table's name would read as one more level. */
function tableKey(row: TableRow, shownUri: string): string {
  if (row.table_name.includes("."))
    throw new UserError(
      `The SqlCatalog at ${shownUri} has a table named "${row.table_name}" in ${row.table_namespace}. ` +
        `A dot in a table's name cannot be told from a namespace: rename the table there.`,
    );
  return `${row.table_namespace}.${row.table_name}`;
}

function chooseCatalog(names: string[], wanted: string | undefined, shownUri: string): string {
  const there = names.map((name) => `"${name}"`).join(", ");
  const [only, ...others] = names;
  if (only === undefined)
    throw new UserError(
      `The SqlCatalog database ${shownUri} has no tables. Check that it is the one that the writer uses.`,
    );
  if (wanted !== undefined && !names.includes(wanted))
    throw new UserError(
      `The SqlCatalog database ${shownUri} has no catalog named "${wanted}". There: ${there}. Choose one of them (lakekeeper:sqlCatalogName).`,
    );
  if (wanted === undefined && others.length > 0)
    throw new UserError(
      `The SqlCatalog database ${shownUri} holds ${names.length} catalogs: ${there}. Say which one (lakekeeper:sqlCatalogName).`,
    );
  return wanted ?? only;
}

const QUERY = "SELECT * FROM iceberg_tables";

async function readRows(uri: string, shownUri: string): Promise<TableRow[]> {
  const [, dialect, rest = ""] = /^(sqlite|postgres|postgresql)(?:\+\w+)?:\/\/(.*)$/s.exec(uri) ?? [];
  try {
    if (dialect === "sqlite") return z.array(tableRow).parse(querySqlite(sqliteFile(rest, shownUri), QUERY));
    if (dialect !== undefined) return z.array(tableRow).parse(await queryPostgres(`postgresql://${rest}`));
  } catch (error) {
    throw explain(error, shownUri);
  }
  throw new UserError(
    `The SqlCatalog URI ${shownUri} is neither SQLite nor Postgres. ` +
      `Write sqlite:////absolute/path/catalog.db or postgresql://user:password@host:5432/database.`,
  );
}

/** SQLAlchemy writes a path after `sqlite:///`, so that an absolute one has four slashes. */
function sqliteFile(rest: string, shownUri: string): string {
  const path = rest.replace(/^\//, "").replace(/\?.*$/s, "");
  if (path === "" || path === ":memory:")
    throw new UserError(
      `The SqlCatalog URI ${shownUri} is an in-memory database, which only its own process can read. ` +
        `Write sqlite:////absolute/path/catalog.db.`,
    );
  const file = resolve(path);
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined)
    throw new UserError(
      `The SqlCatalog database ${file} does not exist (from ${shownUri}). ` +
        `Check the path: sqlite:////absolute/path has four slashes, sqlite:///path is relative to ${process.cwd()}.`,
    );
  if (!stats.isFile()) throw new UserError(`The SqlCatalog database ${file} is not a file (from ${shownUri}).`);
  return file;
}

async function queryPostgres(url: string): Promise<unknown[]> {
  // The writer's URI means by `sslmode` what libpq means; pg by itself is stricter and would refuse what works there.
  const connectionString = /[?&]sslmode=/.test(url) ? `${url}&uselibpqcompat=true` : url;
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 10_000, statement_timeout: 30_000 });
  try {
    await client.connect();
    await client.query("BEGIN TRANSACTION READ ONLY");
    return (await client.query<Record<string, unknown>>(QUERY)).rows;
  } finally {
    await client.end();
  }
}

const SQLITE_NOTADB = 26;
const POSTGRES_UNDEFINED_TABLE = "42P01";

function explain(error: unknown, shownUri: string): unknown {
  if (error instanceof UserError) return error;
  const { message, errcode, code } = error as { message: string; errcode?: number; code?: string };
  if (errcode === SQLITE_NOTADB)
    return new UserError(`${shownUri} is not a SQLite database. Give the file that the writer's SqlCatalog uses.`);
  if (code === POSTGRES_UNDEFINED_TABLE || message === "no such table: iceberg_tables")
    return new UserError(
      `${shownUri} has no table iceberg_tables, so no SqlCatalog has been made in it. ` +
        `Check that it is the database that the writer uses.`,
    );
  // An unreachable host with several addresses is an AggregateError, whose message is empty.
  const reason = error instanceof z.ZodError ? z.prettifyError(error) : message || code;
  return new UserError(
    `The SqlCatalog database ${shownUri} (lakekeeper:sqlCatalog) cannot be read: ${reason}. ` +
      "Check that it can be reached from here, and the user and password in that URI.",
    { cause: error },
  );
}

/** The URI without its password, which may itself hold any character. */
function redact(uri: string): string {
  return uri.replace(/^([^:]+:\/\/[^:@/]*):.*@/s, "$1:***@").replace(/([?&]password=)[^&]*/g, "$1***");
}
