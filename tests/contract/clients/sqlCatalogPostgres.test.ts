import pg from "pg";
import { readSqlCatalog } from "../../../clients/sqlCatalog.ts";
import { startTestPostgres, type TestPostgres } from "../../support/postgres.ts";

let postgres: TestPostgres;

beforeAll(async () => {
  postgres = await startTestPostgres();
});

afterAll(() => postgres.stop());

async function databaseWith(name: string, sql: string): Promise<string> {
  const url = await postgres.createDatabase(name);
  const client = new pg.Client(url);
  await client.connect();
  await client.query(sql);
  await client.end();
  return url;
}

const COLUMNS = `catalog_name varchar(255), table_namespace varchar(255), table_name varchar(255),
  metadata_location varchar(1000), previous_metadata_location varchar(1000), iceberg_type varchar(5)`;

test("tables from Postgres, under the writer's own URI", async () => {
  const url = await databaseWith(
    "lake",
    `CREATE TABLE iceberg_tables (${COLUMNS});
     INSERT INTO iceberg_tables VALUES
       ('lakehouse', 'main.default', 'a', 's3://lakehouse/a.metadata.json', NULL, 'TABLE'),
       ('lakehouse', 'main.default', 'v', 's3://lakehouse/v.metadata.json', NULL, 'VIEW')`,
  );
  for (const uri of [url, url.replace("postgresql://", "postgresql+psycopg2://"), `${url}?sslmode=disable`]) {
    expect(await readSqlCatalog({ uri })).toEqual({
      catalogName: "lakehouse",
      tables: { "main.default.a": "s3://lakehouse/a.metadata.json" },
    });
  }
});

test("nothing can be written while it reads", async () => {
  const uri = await databaseWith(
    "writing",
    `CREATE TABLE log (text varchar);
     CREATE FUNCTION write_log() RETURNS varchar LANGUAGE sql VOLATILE
       AS $$ INSERT INTO log VALUES ('read') RETURNING text::varchar $$;
     CREATE VIEW iceberg_tables AS SELECT write_log() AS catalog_name`,
  );
  await expect(readSqlCatalog({ uri })).rejects.toThrow("cannot execute INSERT in a read-only transaction");
});

test("a database without iceberg_tables, a wrong password", async () => {
  const uri = await databaseWith("bare", "SELECT 1");
  const shown = uri.replace(/:[^:@]*@/, ":***@");
  await expect(readSqlCatalog({ uri })).rejects.toThrow(`${shown} has no table iceberg_tables`);
  await expect(readSqlCatalog({ uri: uri.replace(/:[^:@]*@/, ":wrong@") })).rejects.toThrow(
    `The SqlCatalog database ${shown} (lakekeeper:sqlCatalog) cannot be read: password authentication failed for user "bare"`,
  );
});
