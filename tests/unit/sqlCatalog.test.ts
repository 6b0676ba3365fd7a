import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { UserError } from "../../clients/errors.ts";
import { readSqlCatalog } from "../../clients/sqlCatalog.ts";

let folder: string;
let file: string;
let uri: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sql-catalog-"));
  file = join(folder, "catalog.db");
  uri = `sqlite:///${file}`;
});

afterEach(() => rmSync(folder, { recursive: true }));

/** The table as PyIceberg 0.12 creates it. */
const SCHEMA = `CREATE TABLE iceberg_tables (
  catalog_name VARCHAR(255) NOT NULL, table_namespace VARCHAR(255) NOT NULL, table_name VARCHAR(255) NOT NULL,
  metadata_location VARCHAR(1000), previous_metadata_location VARCHAR(1000), iceberg_type VARCHAR(5),
  PRIMARY KEY (catalog_name, table_namespace, table_name))`;

type Row = [catalog: string, namespace: string, table: string, location: string | null, type: string | null];

function insert(database: DatabaseSync, ...rows: Row[]): void {
  const statement = database.prepare("INSERT INTO iceberg_tables VALUES (?, ?, ?, ?, NULL, ?)");
  for (const row of rows) statement.run(...row);
}

/** A catalog database whose writer still has it open. */
function writer(...rows: Row[]): DatabaseSync {
  const database = new DatabaseSync(file);
  database.exec(SCHEMA);
  insert(database, ...rows);
  return database;
}

function catalogOf(...rows: Row[]): void {
  writer(...rows).close();
}

async function failure(source: { uri: string; catalogName?: string }): Promise<string> {
  const error: unknown = await readSqlCatalog(source).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(UserError);
  return (error as UserError).message;
}

test("tables of the only catalog, sorted, without views", async () => {
  catalogOf(
    ["lakehouse", "main.test", "b", "s3://lakehouse/b.metadata.json", "TABLE"],
    ["lakehouse", "main.default", "a", "s3://lakehouse/a.metadata.json", null],
    ["lakehouse", "main.default", "v", "s3://lakehouse/v.metadata.json", "VIEW"],
  );
  const { catalogName, tables } = await readSqlCatalog({ uri, catalogName: "" });
  expect(catalogName).toBe("lakehouse");
  expect(Object.entries(tables)).toEqual([
    ["main.default.a", "s3://lakehouse/a.metadata.json"],
    ["main.test.b", "s3://lakehouse/b.metadata.json"],
  ]);
});

test("a database of an old PyIceberg, without iceberg_type", async () => {
  const database = writer(["lakehouse", "main", "a", "s3://lakehouse/a.metadata.json", null]);
  database.exec("ALTER TABLE iceberg_tables DROP COLUMN iceberg_type");
  database.close();
  expect((await readSqlCatalog({ uri })).tables).toEqual({ "main.a": "s3://lakehouse/a.metadata.json" });
});

test("a table without a pointer is told from a table that is not there", async () => {
  catalogOf(["lakehouse", "main", "a", null, "TABLE"]);
  expect((await readSqlCatalog({ uri })).tables).toEqual({ "main.a": "" });
});

test("the named one of two catalogs", async () => {
  catalogOf(["one", "main", "a", "s3://lakehouse/1", "TABLE"], ["two", "main", "a", "s3://lakehouse/2", "TABLE"]);
  expect((await readSqlCatalog({ uri, catalogName: "two" })).tables).toEqual({ "main.a": "s3://lakehouse/2" });
  expect(await failure({ uri })).toBe(
    `The SqlCatalog database ${uri} holds 2 catalogs: "one", "two". Say which one (lakekeeper:sqlCatalogName).`,
  );
  expect(await failure({ uri, catalogName: "three" })).toBe(
    `The SqlCatalog database ${uri} has no catalog named "three". There: "one", "two". ` +
      `Choose one of them (lakekeeper:sqlCatalogName).`,
  );
});

test("a relative path and a driver, as SQLAlchemy takes them", async () => {
  catalogOf(["lakehouse", "main", "a", "s3://lakehouse/a", "TABLE"]);
  const cwd = process.cwd();
  process.chdir(folder);
  try {
    const source = { uri: "sqlite+pysqlite:///catalog.db?timeout=5" };
    expect((await readSqlCatalog(source)).tables).toEqual({ "main.a": "s3://lakehouse/a" });
  } finally {
    process.chdir(cwd);
  }
});

describe("beside a writer", () => {
  const row: Row = ["lakehouse", "main", "a", "s3://lakehouse/committed", "TABLE"];

  test.each(["DELETE", "WAL"])("in %s mode: what is committed, and no file more or less", async (mode) => {
    const database = writer(row);
    database.exec(`PRAGMA journal_mode = ${mode}`);
    database.exec("UPDATE iceberg_tables SET metadata_location = 's3://lakehouse/newer'");
    database.exec("BEGIN IMMEDIATE; UPDATE iceberg_tables SET metadata_location = 's3://lakehouse/uncommitted'");
    const before = readdirSync(folder);

    expect((await readSqlCatalog({ uri })).tables).toEqual({ "main.a": "s3://lakehouse/newer" });
    expect(readdirSync(folder)).toEqual(before);
    database.exec("COMMIT");
    expect((await readSqlCatalog({ uri })).tables).toEqual({ "main.a": "s3://lakehouse/uncommitted" });
    database.close();
  });

  test("in WAL mode when the writer has gone: no file is left beside it", async () => {
    const database = writer(row);
    database.exec("PRAGMA journal_mode = WAL");
    database.close();
    expect((await readSqlCatalog({ uri })).tables).toEqual({ "main.a": "s3://lakehouse/committed" });
    expect(readdirSync(folder)).toEqual(["catalog.db"]);
  });

  test("in WAL mode after a copy of database and log: the log counts", async () => {
    const database = writer();
    database.exec("PRAGMA journal_mode = WAL");
    insert(database, row);
    const copied = join(folder, "copied");
    mkdirSync(copied);
    for (const suffix of ["", "-wal"]) copyFileSync(`${file}${suffix}`, join(copied, `c.db${suffix}`));
    database.close();
    const { tables } = await readSqlCatalog({ uri: `sqlite:///${copied}/c.db` });
    expect(tables).toEqual({ "main.a": "s3://lakehouse/committed" });
    expect(readdirSync(copied)).toEqual(["c.db", "c.db-wal"]);
  });
});

describe("what cannot be read is named", () => {
  test("a file that does not exist, and it is not made", async () => {
    expect(await failure({ uri })).toContain(`The SqlCatalog database ${file} does not exist (from ${uri}).`);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("a folder", async () => {
    expect(await failure({ uri: `sqlite:///${folder}` })).toContain(`${folder} is not a file`);
  });

  test("something else than a database", async () => {
    writeFileSync(file, "name,location\n".repeat(100));
    expect(await failure({ uri })).toContain(`${uri} is not a SQLite database.`);
  });

  test("an empty file, or a database of something else", async () => {
    writeFileSync(file, "");
    expect(await failure({ uri })).toContain(`${uri} has no table iceberg_tables`);
  });

  test("a table of that name with other columns", async () => {
    const database = new DatabaseSync(file);
    database.exec("CREATE TABLE iceberg_tables (name TEXT); INSERT INTO iceberg_tables VALUES ('a')");
    database.close();
    expect(await failure({ uri })).toContain("catalog_name");
  });

  test("a catalog without tables", async () => {
    catalogOf();
    expect(await failure({ uri })).toBe(
      `The SqlCatalog database ${uri} has no tables. Check that it is the one that the writer uses.`,
    );
  });

  test("a table whose name has a dot", async () => {
    catalogOf(["lakehouse", "main.default", "a.b", "s3://lakehouse/a", "TABLE"]);
    expect(await failure({ uri })).toContain('a table named "a.b" in main.default');
  });

  test("memory", async () => {
    expect(await failure({ uri: "sqlite:///:memory:" })).toContain("in-memory database");
    expect(await failure({ uri: "sqlite://" })).toContain("in-memory database");
  });

  test("another database, without its password", async () => {
    expect(await failure({ uri: "mysql://writer:p@ss:word@db/lake?password=other&x=1" })).toContain(
      "The SqlCatalog URI mysql://writer:***@db/lake?password=***&x=1 is neither SQLite nor Postgres.",
    );
  });

  test("a Postgres that does not answer, without its password", async () => {
    const message = await failure({ uri: "postgresql+psycopg2://writer:hidden@127.0.0.1:1/lake" });
    expect(message).toBe(
      "The SqlCatalog database postgresql+psycopg2://writer:***@127.0.0.1:1/lake (lakekeeper:sqlCatalog) cannot be read: " +
        "connect ECONNREFUSED 127.0.0.1:1. Check that it can be reached from here, and the user and password in that URI.",
    );
  });
});
