import { IcebergCatalog, tableName, type TableIdentifier } from "../../clients/iceberg.ts";
import { withCatalog } from "../../clients/lakekeeper.ts";
import type { S3Access } from "../../clients/s3.ts";
import type { Connection } from "../../clients/token.ts";
import { inputsOf } from "../../tools/stackState.ts";
import type { Checkout } from "./checkout.ts";

/** What `make doctor` is given: how to reach a running stack. */
export interface Doctor {
  readonly connection: Connection;
  readonly warehouseId: string;
  readonly storage: S3Access;
}

export async function doctorInputs(checkout: Checkout): Promise<Doctor> {
  const exported = await checkout.engine("stack", "export", "--show-secrets");
  return inputsOf("Verification", exported) as unknown as Doctor;
}

/** From table, as in `main.default.t000`, to the metadata file that the catalog gives when the table is loaded. */
export async function pointersInCatalog(doctor: Doctor): Promise<Record<string, string>> {
  return inCatalog(doctor, async (catalog) => {
    const pointers = (await tablesOf(catalog)).map(async (table) => {
      const loaded = await catalog.loadTable(table, "client-managed");
      return [tableName(table), loaded?.["metadata-location"] ?? ""] as const;
    });
    return Object.fromEntries((await Promise.all(pointers)).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

export async function countTables(doctor: Doctor): Promise<number> {
  return inCatalog(doctor, async (catalog) => (await tablesOf(catalog)).length);
}

function inCatalog<T>({ connection, warehouseId }: Doctor, work: (catalog: IcebergCatalog) => Promise<T>): Promise<T> {
  return withCatalog(connection, (http) => work(new IcebergCatalog(http, warehouseId)));
}

async function tablesOf(catalog: IcebergCatalog): Promise<TableIdentifier[]> {
  const namespaces = await catalog.descendants();
  return (await Promise.all(namespaces.map((namespace) => catalog.tables(namespace)))).flat();
}
