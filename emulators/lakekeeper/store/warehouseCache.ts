import type { Database } from "./database.ts";
import {
  findWarehouse,
  findWarehouseByName,
  noSuchWarehouse,
  noSuchWarehouseNamed,
  type Warehouse,
} from "./warehouses.ts";

/**
 * Warehouses as this process last saw them. As in the real server, changing the status does not touch what is cached:
 * for up to a minute a deactivated warehouse is still served and a reactivated one is still refused.
 */
export class WarehouseCache {
  private readonly entries = new Map<string, { until: number; warehouse: Warehouse }>();
  private readonly idsByName = new Map<string, string>();
  private readonly database: Database;
  private readonly lifetime: number;

  constructor(database: Database, seconds: number) {
    this.database = database;
    this.lifetime = seconds * 1000;
  }

  private static nameKey(projectId: string, name: string): string {
    return `${projectId}/${name.toLowerCase()}`;
  }

  put(warehouse: Warehouse): void {
    this.forget(warehouse.id);
    this.entries.set(warehouse.id, { until: Date.now() + this.lifetime, warehouse });
    this.idsByName.set(WarehouseCache.nameKey(warehouse.projectId, warehouse.name), warehouse.id);
  }

  forget(id: string): void {
    const entry = this.entries.get(id);
    this.entries.delete(id);
    if (entry !== undefined)
      this.idsByName.delete(WarehouseCache.nameKey(entry.warehouse.projectId, entry.warehouse.name));
  }

  private cached(id: string | undefined): Warehouse | undefined {
    const entry = id === undefined ? undefined : this.entries.get(id);
    return entry !== undefined && entry.until > Date.now() ? entry.warehouse : undefined;
  }

  private async load(id: string): Promise<Warehouse> {
    const warehouse = await findWarehouse(this.database.read, id);
    if (warehouse === undefined) {
      this.forget(id);
      throw noSuchWarehouse(id);
    }
    this.put(warehouse);
    return warehouse;
  }

  /** Throws 404 NoSuchWarehouseException for an unknown or inactive warehouse. */
  async active(id: string): Promise<Warehouse> {
    const warehouse = this.cached(id) ?? (await this.load(id));
    if (warehouse.status !== "active") throw noSuchWarehouse(id);
    return warehouse;
  }

  /** Like {@link active}, but asks the database: for changes of the storage. */
  async activeNow(id: string): Promise<Warehouse> {
    const warehouse = await this.load(id);
    if (warehouse.status !== "active") throw noSuchWarehouse(id);
    return warehouse;
  }

  async activeByName(projectId: string, name: string): Promise<Warehouse> {
    let warehouse = this.cached(this.idsByName.get(WarehouseCache.nameKey(projectId, name)));
    if (warehouse === undefined) {
      warehouse = await findWarehouseByName(this.database.read, projectId, name);
      if (warehouse !== undefined) this.put(warehouse);
    }
    if (warehouse?.status !== "active") throw noSuchWarehouseNamed(name);
    return warehouse;
  }
}
