import type { Authorizer } from "./authz/authorizer.ts";
import type { Health } from "./health.ts";
import type { Settings } from "./settings.ts";
import type { CredentialCache } from "./storage/vending.ts";
import type { Database } from "./store/database.ts";
import type { SecretStore } from "./store/secrets.ts";
import type { WarehouseCache } from "./store/warehouseCache.ts";
import type { TaskWorker } from "./tasks.ts";

/** Everything a handler works with; one per server. */
export interface Catalog {
  readonly settings: Settings;
  readonly database: Database;
  readonly secrets: SecretStore;
  readonly warehouses: WarehouseCache;
  readonly credentials: CredentialCache;
  readonly tasks: TaskWorker;
  readonly health: Health;
  /** Undefined while everybody may do everything. */
  readonly authorizer: Authorizer | undefined;
}

export const defaultProject = "00000000-0000-0000-0000-000000000000";
export const version = "0.13.3";
