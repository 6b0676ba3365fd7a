import type pg from "pg";
import { tabularObject } from "../authz/authorizer.ts";
import { type Answer, type Call, ok, type Route } from "../http/call.ts";
import { CatalogError } from "../http/errors.ts";
import { stringifyJson } from "../http/json.ts";
import { boolean, mapOf, maybe, object, optional, string, struct } from "../http/shape.ts";
import { createMetadata } from "../iceberg/create.ts";
import { metadataFileName, writeMetadataFile } from "../iceberg/metadataFile.ts";
import { uuid7 } from "../ids.ts";
import { baseLocation } from "../storage/profile.ts";
import { longLivedKeys, s3Client } from "../storage/vending.ts";
import { getNamespace, type Namespace } from "../store/namespaces.ts";
import { findTabular, insertTabular, tabularExists } from "../store/tabulars.ts";
import type { Warehouse } from "../store/warehouses.ts";
import { entityTag, readDelegation, tableAccess, tablePath } from "./access.ts";
import { change, once } from "./once.ts";
import { permitOnNamespace } from "./permit.ts";
import { requireFormatVersion, requireInside, requireSupported } from "./rules.ts";
import { splitNamespace, warehouseOf } from "./scope.ts";
import { loadResult, madeBefore } from "./tables.ts";

const createRequest = struct("CreateTableRequest", {
  name: string,
  location: maybe(string),
  schema: object,
  "partition-spec": maybe(object),
  "write-order": maybe(object),
  "stage-create": optional(boolean, false),
  properties: maybe(mapOf(string)),
});

/** Tables lie side by side below the warehouse, each in a folder named by its id, unless something else was asked for. */
export function newTableLocation(warehouse: Warehouse, namespace: Namespace, id: string): string {
  return `${namespace.properties["location"] ?? baseLocation(warehouse.profile)}/${id}`;
}

async function create(call: Call): Promise<Answer> {
  const { database, secrets } = call.catalog;
  const request = call.body(createRequest);
  const name = splitNamespace(call.param("namespace"));
  const warehouse = await warehouseOf(call);
  if (request.name === "") throw new CatalogError(400, "TableNameEmpty", "Table name cannot be empty");
  requireSupported(request.properties);
  const namespace = await getNamespace(database.read, warehouse.id, name);
  await permitOnNamespace(call, warehouse.id, namespace, "can_create_table");
  const id = uuid7();
  const location = request.location?.replace(/\/+$/, "") ?? newTableLocation(warehouse, namespace, id);
  requireInside(location, warehouse.profile);
  const metadata = createMetadata({
    id,
    location,
    schema: request.schema,
    partitionSpec: request["partition-spec"],
    sortOrder: request["write-order"],
    properties: request.properties ?? {},
    usualFormatVersion: warehouse.formatVersions.includes(2) ? 2 : Math.max(...warehouse.formatVersions),
  });
  requireFormatVersion(metadata["format-version"], warehouse);
  const staged = request["stage-create"];
  const metadataLocation = `${location}/metadata/${metadataFileName(0, metadata)}`;
  const table = {
    warehouseId: warehouse.id,
    id,
    namespaceId: namespace.id,
    kind: "table" as const,
    name: request.name,
    location,
    metadataLocation,
    metadata: stringifyJson(metadata),
  };
  const delegation = readDelegation(call.header("x-iceberg-access-delegation"));
  // A staged creation leaves nothing behind that a repetition could find.
  const inTransaction = <T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> =>
    staged ? database.transaction(work) : change(call, warehouse, work);
  const access = await inTransaction(async (client) => {
    if (staged) {
      const taken = await findTabular(client, "table", warehouse.id, name, request.name);
      if (taken !== undefined) throw tabularExists();
    } else await insertTabular(client, table);
    const granted = await tableAccess(
      call,
      warehouse,
      { id, location, path: tablePath(name, request.name), permission: "write" },
      delegation,
    );
    const storage = s3Client(warehouse.profile, longLivedKeys(await secrets.read(warehouse.secretId)));
    if (!staged) {
      await writeMetadataFile(storage, metadataLocation, metadata);
      const object = tabularObject("table", warehouse.id, id);
      await call.catalog.authorizer?.createdTabular(call.identity, object, namespace.id);
    }
    return granted;
  });
  // A staged table exists only at the client until it commits.
  if (staged) return ok(loadResult({ ...table, metadataLocation: null }, access.config, access.storageCredentials));
  return ok(loadResult(table, access.config, access.storageCredentials), {
    etag: entityTag(metadataLocation, access.revalidateAt),
  });
}

export const createRoutes: readonly Route[] = [
  { method: "POST", path: "/catalog/v1/:prefix/namespaces/:namespace/tables", handle: once(create, madeBefore) },
];
