import { migrateAuthorization } from "../authz/authorizationStore.ts";
import { log } from "../log.ts";
import type { Settings } from "../settings.ts";
import { Database } from "../store/database.ts";
import { migrate, migrationState } from "../store/schema.ts";

async function withWritePool<T>(settings: Settings, work: (database: Database) => Promise<T>): Promise<T> {
  const database = await Database.openWrite(settings.database);
  return work(database).finally(() => database.close());
}

/** `migrate`: safe to run any number of times, and by several processes at once. */
export async function runMigrate(settings: Settings): Promise<void> {
  await withWritePool(settings, migrate);
  if (settings.openFga !== undefined) await migrateAuthorization(settings.openFga);
  log("INFO", "lakekeeper", "Database migration complete.");
}

/** `reopen-bootstrap`: lets the bootstrap call through once more; server id and data stay. */
export async function runReopenBootstrap(settings: Settings, confirmed: boolean): Promise<void> {
  if (!confirmed)
    throw new Error("reopen-bootstrap re-allows /management/v1/bootstrap to be called. Re-run with --yes to confirm.");
  await withWritePool(settings, (database) => database.write.query("UPDATE server SET open_for_bootstrap = true"));
  log("INFO", "lakekeeper", "Catalog is open for bootstrap.");
}

export interface WaitOptions {
  readonly checkDatabase: boolean;
  readonly checkMigrations: boolean;
  readonly retries: number;
  readonly backoffSeconds: number;
}

/** Undefined when there is nothing left to wait for, else what is missing. Throws when waiting cannot help. */
async function missing(
  settings: Settings,
  options: WaitOptions,
): Promise<{ what: "up" | "migrated"; details: string } | undefined> {
  let database: Database;
  try {
    database = await Database.open(settings.database);
  } catch (error) {
    return { what: "up", details: error instanceof Error ? error.message : String(error) };
  }
  try {
    log("INFO", "lakekeeper::wait_for_db", "Database is healthy.");
    if (!options.checkMigrations) return undefined;
    const state = await migrationState(database);
    if (state === "ahead") throw new Error("Database is ahead of this binary: it was migrated by a newer version.");
    if (state !== "current") return { what: "migrated", details: state };
    log("INFO", "lakekeeper::wait_for_db", "Database is up to date with binary.");
    return undefined;
  } finally {
    await database.close();
  }
}

/** `wait-for-db`: returns once the database can be used, throws after the last retry. */
export async function runWaitForDatabase(settings: Settings, options: WaitOptions): Promise<void> {
  if (!options.checkDatabase && !options.checkMigrations) return;
  for (let attempt = 1; ; attempt++) {
    const problem = await missing(settings, options);
    if (problem === undefined) return;
    if (attempt > options.retries)
      throw new Error(
        problem.what === "up"
          ? "DB is not up."
          : "Database is not up to date with binary, make sure to run the migrate command before starting the server.",
      );
    const message = problem.what === "up" ? "DB not up yet" : "Database is not up to date with binary";
    log(
      "INFO",
      "lakekeeper::wait_for_db",
      `${message}, sleeping for ${options.backoffSeconds}s before next retry. Retry: ${attempt}/${options.retries}`,
      {
        details: problem.details,
      },
    );
    await new Promise((resolve) => setTimeout(resolve, options.backoffSeconds * 1000));
  }
}
