import { tabularObject } from "../authz/authorizer.ts";
import { type Answer, type Call, ok, type Route } from "../http/call.ts";
import { CatalogError } from "../http/errors.ts";
import { stringifyJson } from "../http/json.ts";
import { boolean, optional, string, struct } from "../http/shape.ts";
import { readMetadataFile } from "../iceberg/metadataFile.ts";
import { isUuid, uuid7 } from "../ids.ts";
import { longLivedKeys, s3Client } from "../storage/vending.ts";
import type { Queryable } from "../store/database.ts";
import { getNamespace } from "../store/namespaces.ts";
import { deleteTabular, findTabular, insertTabular } from "../store/tabulars.ts";
import { entityTag, tableAccess, tablePath } from "./access.ts";
import { change, isRepeatable, once } from "./once.ts";
import { permitOnNamespace, permitOnTabular } from "./permit.ts";
import { requireFormatVersion, requireInside, requireSupported } from "./rules.ts";
import { splitNamespace, warehouseOf } from "./scope.ts";
import { loadResult, madeBefore } from "./tables.ts";

const registerRequest = struct("RegisterTableRequest", {
  name: string,
  "metadata-location": string,
  overwrite: optional(boolean, false),
});

async function register(call: Call): Promise<Answer> {
  const { database, secrets } = call.catalog;
  const request = call.body(registerRequest);
  const metadataLocation = request["metadata-location"];
  const name = splitNamespace(call.param("namespace"));
  const warehouse = await warehouseOf(call);
  if (request.name === "") throw new CatalogError(400, "TableNameEmpty", "Table name cannot be empty");
  const namespace = await getNamespace(database.read, warehouse.id, name);
  await permitOnNamespace(call, warehouse.id, namespace, "can_create_table");
  requireInside(metadataLocation, warehouse.profile);
  const client = s3Client(warehouse.profile, longLivedKeys(await secrets.read(warehouse.secretId)));
  const metadata = await readMetadataFile(client, metadataLocation);
  requireInside(metadata.location, warehouse.profile);
  requireSupported(metadata["properties"]);
  requireFormatVersion(metadata["format-version"], warehouse);
  const id = isUuid(metadata["table-uuid"]) ? metadata["table-uuid"] : uuid7();
  const table = {
    warehouseId: warehouse.id,
    id,
    namespaceId: namespace.id,
    kind: "table" as const,
    name: request.name,
    location: metadata.location,
    metadataLocation,
    metadata: stringifyJson({ ...metadata, "table-uuid": id }),
  };
  const target = { id, location: metadata.location, path: tablePath(name, request.name), permission: "write" as const };
  const { authorizer } = call.catalog;
  const add = async (client: Queryable): Promise<string | undefined> => {
    const replaced = request.overwrite ? await replace(call, client, warehouse.id, name, request.name) : undefined;
    await insertTabular(client, table);
    return replaced;
  };
  const object = tabularObject("table", warehouse.id, id);
  // Keys are vended before the table exists, whatever the client asked for: without them it is not registered.
  const delegation = { clientManaged: false, vended: true, signing: false };
  const access = await tableAccess(call, warehouse, target, delegation).catch((refusal: unknown) =>
    // Of two refusals, the one that the table gets is told.
    database.transaction(async (transaction) => {
      await add(transaction);
      throw refusal;
    }),
  );
  if (request.overwrite || isRepeatable(call) || authorizer !== undefined) {
    const replaced = await change(call, warehouse, async (transaction) => {
      const earlier = await add(transaction);
      if (earlier !== id) await authorizer?.createdTabular(call.identity, object, namespace.id);
      return earlier;
    });
    if (replaced !== undefined && replaced !== id)
      await authorizer?.removed(tabularObject("table", warehouse.id, replaced));
  } else await add(database.write);
  return ok(loadResult(table, access.config), { etag: entityTag(metadataLocation) });
}

/** Forgets the table of that name, if there is one, and tells its id; its files stay. */
async function replace(
  call: Call,
  client: Queryable,
  warehouseId: string,
  namespace: readonly string[],
  name: string,
): Promise<string | undefined> {
  const current = await findTabular(client, "table", warehouseId, namespace, name, true);
  if (current === undefined) return undefined;
  await permitOnTabular(call, { kind: "table", warehouseId, id: current.id, name }, "can_drop");
  if (current.protected)
    throw new CatalogError(409, "TabularProtected", "Table is protected. Cannot overwrite protected table.");
  await deleteTabular(client, warehouseId, current.id);
  return current.id;
}

export const registerRoutes: readonly Route[] = [
  { method: "POST", path: "/catalog/v1/:prefix/namespaces/:namespace/register", handle: once(register, madeBefore) },
];
