import { IcebergCatalog, tableName } from "../../clients/iceberg.ts";
import { withCatalog } from "../../clients/lakekeeper.ts";
import type { S3Access } from "../../clients/s3.ts";
import type { Connection } from "../../clients/token.ts";
import type { Checkout } from "./checkout.ts";

/** What `make doctor` is given: how to reach a running stack. */
export interface Doctor {
  readonly connection: Connection;
  readonly warehouseId: string;
  readonly storage: S3Access;
}

export async function doctorInputs(checkout: Checkout): Promise<Doctor> {
  return (await checkout.outputs())["doctor"] as Doctor;
}

/** From table, as in `main.default.t000`, to the metadata file that the catalog gives when the table is loaded. */
export async function pointersInCatalog({ connection, warehouseId }: Doctor): Promise<Record<string, string>> {
  return withCatalog(connection, async (http) => {
    const catalog = new IcebergCatalog(http, warehouseId);
    const namespaces = await catalog.descendants();
    const tables = (await Promise.all(namespaces.map((namespace) => catalog.tables(namespace)))).flat();
    const pointers = tables.map(async (table) => {
      const loaded = await catalog.loadTable(table, "client-managed");
      return [tableName(table), loaded?.["metadata-location"] ?? ""] as const;
    });
    return Object.fromEntries((await Promise.all(pointers)).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
