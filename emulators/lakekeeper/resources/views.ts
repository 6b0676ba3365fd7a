import { type Answer, type Call, noContent, ok, type Route } from "../http/call.ts";
import { CatalogError } from "../http/errors.ts";
import { stringifyJson } from "../http/json.ts";
import { nextPage, readPage } from "../http/paging.ts";
import { i64, list as listOf, mapOf, maybe, object, optional, string, struct } from "../http/shape.ts";
import { canonicalSchema } from "../iceberg/metadata.ts";
import { metadataFileName, writeMetadataFile } from "../iceberg/metadataFile.ts";
import { uuid7 } from "../ids.ts";
import { longLivedKeys, s3Client } from "../storage/vending.ts";
import { getNamespace } from "../store/namespaces.ts";
import { getTabular, insertTabular, listTabulars, type Tabular } from "../store/tabulars.ts";
import type { Warehouse } from "../store/warehouses.ts";
import { readDelegation, tableAccess, tablePath } from "./access.ts";
import { newTableLocation } from "./create.ts";
import { requireInside } from "./rules.ts";
import { splitNamespace, warehouseOf } from "./scope.ts";
import { loadResult } from "./tables.ts";

const createRequest = struct("CreateViewRequest", {
  name: string,
  location: maybe(string),
  schema: object,
  "view-version": struct("ViewVersion", {
    "version-id": i64,
    "schema-id": i64,
    "timestamp-ms": i64,
    summary: mapOf(string),
    representations: listOf(object),
    "default-catalog": maybe(string),
    "default-namespace": listOf(string),
  }),
  properties: optional(mapOf(string), {}),
});

/** Answers about views carry the keys in `config` only. */
async function show(call: Call, warehouse: Warehouse, namespace: readonly string[], view: Tabular): Promise<Answer> {
  const delegation = readDelegation(call.header("x-iceberg-access-delegation"));
  const target = { id: view.id, location: view.location, path: tablePath(namespace, view.name) };
  return ok(loadResult(view, (await tableAccess(call, warehouse, target, delegation)).config));
}

async function create(call: Call): Promise<Answer> {
  const { database, secrets } = call.catalog;
  const { "view-version": version, ...request } = call.body(createRequest);
  const name = splitNamespace(call.param("namespace"));
  const warehouse = await warehouseOf(call);
  const namespace = await getNamespace(database.read, warehouse.id, name);
  const id = uuid7();
  const location = request.location?.replace(/\/+$/, "") ?? newTableLocation(warehouse, namespace, id);
  requireInside(location, warehouse.profile);
  const now = Date.now();
  const { "default-catalog": defaultCatalog, ...rest } = version;
  const metadata = {
    "format-version": 1,
    "view-uuid": id,
    location,
    "current-version-id": version["version-id"],
    versions: [
      { ...rest, "timestamp-ms": now, ...(defaultCatalog === null ? {} : { "default-catalog": defaultCatalog }) },
    ],
    "version-log": [{ "version-id": version["version-id"], "timestamp-ms": now }],
    schemas: [canonicalSchema(request.schema)],
    properties: request.properties,
  };
  const view = {
    warehouseId: warehouse.id,
    id,
    namespaceId: namespace.id,
    kind: "view" as const,
    name: request.name,
    location,
    metadataLocation: `${location}/metadata/${metadataFileName(0, metadata)}`,
    metadata: stringifyJson(metadata),
    protected: false,
  };
  return database.transaction(async (client) => {
    await insertTabular(client, view);
    const storage = s3Client(warehouse.profile, longLivedKeys(await secrets.read(warehouse.secretId)));
    await writeMetadataFile(storage, view.metadataLocation, metadata);
    return show(call, warehouse, name, view);
  });
}

async function load(call: Call): Promise<Answer> {
  const namespace = splitNamespace(call.param("namespace"));
  const warehouse = await warehouseOf(call);
  const view = await getTabular(call.catalog.database.read, "view", warehouse.id, namespace, call.param("tabular"));
  return show(call, warehouse, namespace, view);
}

async function head(call: Call): Promise<Answer> {
  const warehouse = await warehouseOf(call);
  const namespace = splitNamespace(call.param("namespace"));
  await getTabular(call.catalog.database.read, "view", warehouse.id, namespace, call.param("tabular"));
  return noContent;
}

async function list(call: Call): Promise<Answer> {
  const { settings, database } = call.catalog;
  const warehouse = await warehouseOf(call);
  const namespace = await getNamespace(database.read, warehouse.id, splitNamespace(call.param("namespace")));
  const page = readPage(call.query, { max: settings.pageSizeMax });
  const found = await listTabulars(database.read, "view", namespace.id, page);
  return ok({
    identifiers: found.map((view) => ({ namespace: namespace.name, name: view.name })),
    ...nextPage(page, found),
  });
}

/** The real server can do this; the stand-in says plainly that it cannot. */
function notImplemented(): never {
  throw new CatalogError(501, "NotImplemented", "The stand-in for Lakekeeper does not change or rename views.");
}

const namespace = "/catalog/v1/:prefix/namespaces/:namespace";

export const viewRoutes: readonly Route[] = [
  { method: "POST", path: `${namespace}/views`, handle: create },
  { method: "GET", path: `${namespace}/views`, handle: list },
  { method: "GET", path: `${namespace}/views/:tabular`, handle: load },
  { method: "HEAD", path: `${namespace}/views/:tabular`, handle: head },
  { method: "POST", path: `${namespace}/views/:tabular`, handle: notImplemented },
  { method: "POST", path: "/catalog/v1/:prefix/views/rename", handle: notImplemented },
];
