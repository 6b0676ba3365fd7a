import type pg from "pg";
import { uuid7 } from "../ids.ts";
import type { Database, Queryable } from "./database.ts";

/** Migrations in order. A released one is never edited: a change is a further entry. */
const migrations: readonly string[] = [
  `
  CREATE EXTENSION IF NOT EXISTS pgcrypto;
  CREATE TABLE server (
    single_row boolean PRIMARY KEY DEFAULT true CHECK (single_row),
    server_id uuid NOT NULL,
    open_for_bootstrap boolean NOT NULL DEFAULT true,
    terms_accepted boolean NOT NULL DEFAULT false
  );
  CREATE TABLE project (
    project_id text PRIMARY KEY,
    name text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE TABLE users (
    id text PRIMARY KEY,
    name text NOT NULL,
    email text,
    user_type text NOT NULL,
    last_updated_with text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz
  );
  CREATE TABLE secret (
    secret_id uuid PRIMARY KEY,
    secret bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE TABLE warehouse (
    warehouse_id uuid PRIMARY KEY,
    project_id text NOT NULL CONSTRAINT warehouse_project REFERENCES project,
    name text NOT NULL,
    storage_profile jsonb NOT NULL,
    credential_type text,
    secret_id uuid REFERENCES secret,
    delete_profile jsonb NOT NULL,
    status text NOT NULL DEFAULT 'active',
    protected boolean NOT NULL DEFAULT false,
    format_versions smallint[] NOT NULL DEFAULT '{1,2,3}',
    version bigint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz
  );
  CREATE UNIQUE INDEX warehouse_name ON warehouse (project_id, lower(name));
  CREATE TABLE namespace (
    namespace_id uuid PRIMARY KEY,
    warehouse_id uuid NOT NULL CONSTRAINT namespace_warehouse REFERENCES warehouse,
    name text[] NOT NULL,
    -- the levels in lower case, joined by the unit separator: names differ in more than case, children sort by prefix
    name_key text COLLATE "C" NOT NULL,
    properties jsonb NOT NULL,
    protected boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz,
    CONSTRAINT namespace_name UNIQUE (warehouse_id, name_key)
  );
  CREATE TABLE tabular (
    warehouse_id uuid NOT NULL CONSTRAINT tabular_warehouse REFERENCES warehouse,
    tabular_id uuid NOT NULL,
    namespace_id uuid NOT NULL CONSTRAINT tabular_namespace REFERENCES namespace,
    kind text NOT NULL,
    name text NOT NULL,
    location text COLLATE "C" NOT NULL,
    metadata_location text NOT NULL,
    -- JSON text and not jsonb: an answer contains it unchanged, with every 64-bit integer as it was written
    metadata text NOT NULL,
    protected boolean NOT NULL DEFAULT false,
    deleted_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz,
    CONSTRAINT tabular_id PRIMARY KEY (warehouse_id, tabular_id)
  );
  CREATE UNIQUE INDEX tabular_name ON tabular (namespace_id, lower(name)) WHERE deleted_at IS NULL;
  CREATE INDEX tabular_location ON tabular (warehouse_id, location);
  CREATE TABLE task (
    task_id uuid PRIMARY KEY,
    warehouse_id uuid NOT NULL REFERENCES warehouse,
    queue text NOT NULL,
    tabular_id uuid NOT NULL,
    location text NOT NULL,
    purge boolean NOT NULL,
    scheduled_for timestamptz NOT NULL DEFAULT clock_timestamp(),
    attempt int NOT NULL DEFAULT 0
  );
  CREATE INDEX task_due ON task (queue, scheduled_for);
  CREATE INDEX task_warehouse ON task (warehouse_id);
  `,
  `
  ALTER TABLE task
    ADD COLUMN created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- what the table was called, levels of the namespace first: a purge outlives its table
    ADD COLUMN entity_name text[] NOT NULL DEFAULT '{}';
  `,
  `
  CREATE TABLE finished_request (
    warehouse_id uuid NOT NULL REFERENCES warehouse ON DELETE CASCADE,
    idempotency_key uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (warehouse_id, idempotency_key)
  );
  CREATE INDEX finished_request_age ON finished_request (created_at);
  `,
];

/** How the database's migrations relate to this program's. */
export type MigrationState = "none" | "behind" | "current" | "ahead";

async function appliedVersion(client: Queryable): Promise<number | undefined> {
  const { rows } = await client.query<{ present: boolean }>(
    "SELECT to_regclass('lakekeeper.migration') IS NOT NULL AS present",
  );
  if (rows[0]?.present !== true) return undefined;
  const version = await client.query<{ version: number | null }>(
    "SELECT max(version) AS version FROM lakekeeper.migration",
  );
  return version.rows[0]?.version ?? 0;
}

export async function migrationState(database: Database): Promise<MigrationState> {
  const applied = await appliedVersion(database.read);
  if (applied === undefined) return "none";
  if (applied === migrations.length) return "current";
  return applied < migrations.length ? "behind" : "ahead";
}

/** Any number shared by all processes that migrate: they take turns. */
const migrationLock = 13_30_001;

/** Brings the database up to date in one transaction. Throws when it was migrated by a newer program. */
export async function migrate(database: Database): Promise<void> {
  await database.transaction(async (client: pg.PoolClient) => {
    await client.query("SELECT pg_advisory_xact_lock($1)", [migrationLock]);
    const applied = await appliedVersion(client);
    if (applied === undefined)
      await client.query(
        "CREATE SCHEMA IF NOT EXISTS lakekeeper; CREATE TABLE lakekeeper.migration (version int PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())",
      );
    const done = applied ?? 0;
    if (done > migrations.length)
      throw new Error(`migration ${done} was previously applied but is missing in the resolved migrations`);
    for (const [index, statements] of migrations.entries()) {
      if (index < done) continue;
      await client.query(statements);
      await client.query("INSERT INTO lakekeeper.migration (version) VALUES ($1)", [index + 1]);
    }
    await client.query("INSERT INTO server (server_id) VALUES ($1) ON CONFLICT DO NOTHING", [uuid7()]);
  });
}
