import { tabularObject } from "../authz/authorizer.ts";
import { type Answer, type Call, noContent, ok, type Route } from "../http/call.ts";
import { CatalogError } from "../http/errors.ts";
import { type JsonObject, parseJson, stringifyJson } from "../http/json.ts";
import { nextPage, readPage } from "../http/paging.ts";
import { list as listOf, mapOf, maybe, object, optional, string, struct, tagged, uuid } from "../http/shape.ts";
import { canonicalSchema } from "../iceberg/metadata.ts";
import { metadataFileName, nextVersion, writeMetadataFile } from "../iceberg/metadataFile.ts";
import { changeView, storedVersion, viewUpdate, viewVersion } from "../iceberg/view.ts";
import { uuid7 } from "../ids.ts";
import { longLivedKeys, s3Client } from "../storage/vending.ts";
import { getNamespace } from "../store/namespaces.ts";
import { getTabular, insertTabular, listTabulars, setTabularMetadata, type Tabular } from "../store/tabulars.ts";
import type { Warehouse } from "../store/warehouses.ts";
import { readDelegation, tableAccess, tablePath } from "./access.ts";
import { newTableLocation } from "./create.ts";
import { change, once } from "./once.ts";
import { listable, permitOnNamespace, permitOnTabular } from "./permit.ts";
import { requireInside } from "./rules.ts";
import { splitNamespace, warehouseOf } from "./scope.ts";
import { loadResult, rename } from "./tables.ts";

const createRequest = struct("CreateViewRequest", {
  name: string,
  location: maybe(string),
  schema: object,
  "view-version": viewVersion,
  properties: optional(mapOf(string), {}),
});

/** Answers about views carry the keys in `config` only. */
async function show(call: Call, warehouse: Warehouse, namespace: readonly string[], view: Tabular): Promise<Answer> {
  const delegation = readDelegation(call.header("x-iceberg-access-delegation"));
  const target = {
    id: view.id,
    location: view.location,
    path: tablePath(namespace, view.name),
    permission: "read" as const,
  };
  return ok(loadResult(view, (await tableAccess(call, warehouse, target, delegation)).config));
}

async function create(call: Call): Promise<Answer> {
  const { database, secrets } = call.catalog;
  const { "view-version": version, ...request } = call.body(createRequest);
  const name = splitNamespace(call.param("namespace"));
  const warehouse = await warehouseOf(call);
  const namespace = await getNamespace(database.read, warehouse.id, name);
  await permitOnNamespace(call, warehouse.id, namespace, "can_create_view");
  const id = uuid7();
  const location = request.location?.replace(/\/+$/, "") ?? newTableLocation(warehouse, namespace, id);
  requireInside(location, warehouse.profile);
  const now = Date.now();
  const metadata = {
    "format-version": 1,
    "view-uuid": id,
    location,
    "current-version-id": version["version-id"],
    versions: [storedVersion(version, now)],
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
    const object = tabularObject("view", warehouse.id, id);
    await call.catalog.authorizer?.createdTabular(call.identity, object, namespace.id);
    return show(call, warehouse, name, view);
  });
}

async function permitOnView(
  call: Call,
  { id: warehouseId }: Warehouse,
  { id, name }: Tabular,
  action: "can_get_metadata" | "can_commit",
): Promise<void> {
  await permitOnTabular(call, { kind: "view", warehouseId, id, name }, action);
}

async function load(call: Call): Promise<Answer> {
  const namespace = splitNamespace(call.param("namespace"));
  const warehouse = await warehouseOf(call);
  const view = await getTabular(call.catalog.database.read, "view", warehouse.id, namespace, call.param("tabular"));
  await permitOnView(call, warehouse, view, "can_get_metadata");
  return show(call, warehouse, namespace, view);
}

async function head(call: Call): Promise<Answer> {
  const warehouse = await warehouseOf(call);
  const namespace = splitNamespace(call.param("namespace"));
  const view = await getTabular(call.catalog.database.read, "view", warehouse.id, namespace, call.param("tabular"));
  await permitOnView(call, warehouse, view, "can_get_metadata");
  return noContent;
}

async function list(call: Call): Promise<Answer> {
  const { settings, database } = call.catalog;
  const warehouse = await warehouseOf(call);
  const namespace = await getNamespace(database.read, warehouse.id, splitNamespace(call.param("namespace")));
  await permitOnNamespace(call, warehouse.id, namespace, "can_list_views");
  const page = readPage(call.query, { max: settings.pageSizeMax });
  const found = await listTabulars(database.read, "view", namespace.id, page);
  const listed = await listable(call, found, ({ id }) => tabularObject("view", warehouse.id, id));
  return ok({
    identifiers: listed.map((view) => ({ namespace: namespace.name, name: view.name })),
    ...nextPage(page, found),
  });
}

const commitRequest = struct("CommitViewRequest", {
  identifier: maybe(object),
  requirements: maybe(listOf(tagged("type", { "assert-view-uuid": struct("AssertViewUuid", { uuid }) }))),
  updates: listOf(viewUpdate),
});

/** The row stays locked from the check of the requirements to the end: of two commits one sees what the other made. */
async function commit(call: Call): Promise<Answer> {
  const request = call.body(commitRequest);
  const namespace = splitNamespace(call.param("namespace"));
  const warehouse = await warehouseOf(call);
  const storage = s3Client(warehouse.profile, longLivedKeys(await call.catalog.secrets.read(warehouse.secretId)));
  const committed = await change(call, warehouse, async (client) => {
    const view = await getTabular(client, "view", warehouse.id, namespace, call.param("tabular"), true);
    await permitOnView(call, warehouse, view, "can_commit");
    if (request.requirements?.some((requirement) => requirement.uuid !== view.id) === true)
      throw new CatalogError(400, "ViewUuidMismatch", "View UUID does not match");
    const metadata = changeView(parseJson(view.metadata) as JsonObject, request.updates, Date.now());
    const location = metadata["location"] as string;
    if (location !== view.location) requireInside(location, warehouse.profile);
    const file = metadataFileName(nextVersion(view.metadataLocation), metadata);
    const written = { location, metadataLocation: `${location}/metadata/${file}`, metadata: stringifyJson(metadata) };
    await writeMetadataFile(storage, written.metadataLocation, metadata);
    await setTabularMetadata(client, warehouse.id, view.id, written);
    return { ...view, ...written };
  });
  return show(call, warehouse, namespace, committed);
}

const namespace = "/catalog/v1/:prefix/namespaces/:namespace";

export const viewRoutes: readonly Route[] = [
  { method: "POST", path: `${namespace}/views`, handle: create },
  { method: "GET", path: `${namespace}/views`, handle: list },
  { method: "GET", path: `${namespace}/views/:tabular`, handle: load },
  { method: "HEAD", path: `${namespace}/views/:tabular`, handle: head },
  { method: "POST", path: `${namespace}/views/:tabular`, handle: once(commit, load) },
  {
    method: "POST",
    path: "/catalog/v1/:prefix/views/rename",
    handle: once(
      (call) => rename(call, "view"),
      () => noContent,
    ),
  },
];
