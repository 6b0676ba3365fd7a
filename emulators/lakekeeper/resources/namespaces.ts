import { type ObjectId, tabularObject } from "../authz/authorizer.ts";
import type { ActionOn } from "../authz/model.ts";
import { type Answer, type Call, noContent, ok, type Route } from "../http/call.ts";
import { CatalogError, PlainTextError } from "../http/errors.ts";
import { nextPage, readPage } from "../http/paging.ts";
import { boolean, list as listOf, mapOf, maybe, optional, string, struct } from "../http/shape.ts";
import { isBelow } from "../storage/location.ts";
import { baseLocation } from "../storage/profile.ts";
import {
  changeNamespaceProperties,
  deleteNamespaces,
  getNamespace,
  insertNamespace,
  listNamespaces,
  type Namespace,
  namespaceContent,
  namespaceTree,
} from "../store/namespaces.ts";
import type { TabularKind } from "../store/tabulars.ts";
import { rfc3339 } from "../store/time.ts";
import type { Warehouse } from "../store/warehouses.ts";
import { dropTabular } from "./drop.ts";
import { change, once } from "./once.ts";
import { listable, permitOnNamespace, permitOnWarehouse } from "./permit.ts";
import { outside } from "./rules.ts";
import { checkNamespace, idOf, splitNamespace, warehouseIdOf, warehouseOf } from "./scope.ts";

const managed = ["namespace_id", "location"];

/** Properties as answers show them: with the id, and the place new tables go to. */
function show(warehouse: Warehouse, namespace: Namespace): object {
  return {
    namespace: namespace.name,
    properties: { location: baseLocation(warehouse.profile), ...namespace.properties, namespace_id: namespace.id },
  };
}

function checkProperties(warehouse: Warehouse, properties: Record<string, string>): Record<string, string> {
  const base = baseLocation(warehouse.profile);
  const location = properties["location"]?.replace(/\/+$/, "");
  if (location === undefined) return properties;
  if (location !== base && !isBelow(location, base)) throw outside(location, base);
  return { ...properties, location };
}

const createRequest = struct("CreateNamespaceRequest", {
  namespace: listOf(string),
  properties: maybe(mapOf(string)),
});

async function create(call: Call): Promise<Answer> {
  const { settings } = call.catalog;
  const { namespace: name, properties } = call.body(createRequest);
  // Seen with Lakekeeper 0.13.3: it does not expect this and crashes in the middle of the request.
  if (name.length === 0) throw new PlainTextError(500, "Service panicked");
  checkNamespace(name);
  if (name.some((part) => part.includes("+")))
    throw new CatalogError(400, "InvalidNamespace", "Namespace cannot contain '+' character.");
  if (settings.reservedNamespaces.includes(name[0]!.toLowerCase()))
    throw new CatalogError(400, "ReservedNamespace", "Namespace is reserved for internal use.");
  const warehouse = await warehouseOf(call);
  if (name.length === 1) await permitOnWarehouse(call, warehouse.id, "can_create_namespace");
  const checked = checkProperties(warehouse, properties ?? {});
  const created = await change(call, warehouse, async (client) => {
    const parent = name.length > 1 ? await getNamespace(client, warehouse.id, name.slice(0, -1)) : undefined;
    if (parent !== undefined) await permitOnNamespace(call, warehouse.id, parent, "can_create_namespace");
    const inserted = await insertNamespace(client, warehouse.id, name, checked);
    const above = parent === undefined ? (`warehouse:${warehouse.id}` as const) : (`namespace:${parent.id}` as const);
    await call.catalog.authorizer?.createdNamespace(call.identity, inserted.id, above);
    return inserted;
  });
  return ok(show(warehouse, created));
}

async function createdBefore(call: Call): Promise<Answer> {
  const warehouse = await warehouseOf(call);
  const name = call.body(createRequest).namespace;
  const namespace = await getNamespace(call.catalog.database.read, warehouse.id, name);
  await permitOnNamespace(call, warehouse.id, namespace, "can_get_metadata");
  return ok(show(warehouse, namespace));
}

async function list(call: Call): Promise<Answer> {
  const { settings, database } = call.catalog;
  const warehouse = await warehouseOf(call);
  const wanted = call.query.get("parent") ?? "";
  const parent = wanted === "" ? [] : splitNamespace(wanted);
  await permitOnWarehouse(call, warehouse.id, "can_list_namespaces");
  if (parent.length > 0) {
    const above = await getNamespace(database.read, warehouse.id, parent);
    await permitOnNamespace(call, warehouse.id, above, "can_list_namespaces");
  }
  const page = readPage(call.query, { max: settings.pageSizeMax });
  const found = await listNamespaces(database.read, warehouse.id, parent, page);
  const listed = await listable(call, found, ({ id }) => `namespace:${id}`);
  const withIds = call.flag("returnUuids", false) ? { "namespace-uuids": listed.map((namespace) => namespace.id) } : {};
  return ok({ namespaces: listed.map((namespace) => namespace.name), ...withIds, ...nextPage(page, found) });
}

/** The namespace in the path, for a caller who may do this to it. */
async function find(
  call: Call,
  action: ActionOn<"namespace">,
): Promise<{ warehouse: Warehouse; namespace: Namespace }> {
  const name = splitNamespace(call.param("namespace"));
  const warehouse = await warehouseOf(call);
  const namespace = await getNamespace(call.catalog.database.read, warehouse.id, name);
  await permitOnNamespace(call, warehouse.id, namespace, action);
  return { warehouse, namespace };
}

async function get(call: Call): Promise<Answer> {
  const { warehouse, namespace } = await find(call, "can_get_metadata");
  return ok(show(warehouse, namespace));
}

async function head(call: Call): Promise<Answer> {
  await find(call, "can_get_metadata");
  return noContent;
}

const propertiesRequest = struct("UpdateNamespacePropertiesRequest", {
  removals: maybe(listOf(string)),
  updates: maybe(mapOf(string)),
});

async function updateProperties(call: Call): Promise<Answer> {
  const request = call.body(propertiesRequest);
  const removals = request.removals ?? [];
  const updates = request.updates ?? {};
  const both = removals.find((key) => key in updates);
  if (both !== undefined)
    throw new CatalogError(
      422,
      "InvalidNamespacePropertiesUpdate",
      `Property '${both}' cannot be both updated and removed`,
    );
  const fixed = [...removals, ...Object.keys(updates)].find((key) => managed.includes(key));
  if (fixed !== undefined)
    throw new CatalogError(400, "InvalidNamespaceProperty", `Namespace property '${fixed}' cannot be changed.`);
  const { warehouse, namespace } = await find(call, "can_update_properties");
  const missing = removals.filter((key) => !(key in namespace.properties));
  await change(call, warehouse, (client) => changeNamespaceProperties(client, namespace.id, removals, updates));
  return ok({
    updated: Object.keys(updates),
    removed: removals.filter((key) => key in namespace.properties),
    ...(missing.length > 0 ? { missing } : {}),
  });
}

/** What was removed cannot be told any more: all that was to be removed is gone. */
function propertiesUpdatedBefore(call: Call): Answer {
  const { removals, updates } = call.body(propertiesRequest);
  return ok({ updated: Object.keys(updates ?? {}), removed: removals ?? [] });
}

async function remove(call: Call): Promise<Answer> {
  const { tasks } = call.catalog;
  const recursive = call.flag("recursive", false);
  const force = call.flag("force", false);
  const purge = call.flag("purge", false);
  const { warehouse, namespace } = await find(call, "can_delete");
  const gone: ObjectId[] = [];
  const detail = "Error dropping Namespace in catalog";
  const dotted = namespace.name.join(".");
  await change(call, warehouse, async (client) => {
    if (namespace.protected && !force)
      throw new CatalogError(409, "NamespaceProtected", `Namespace '${dotted}' is protected and force flag not set.`, [
        detail,
      ]);
    const content = await namespaceContent(client, warehouse.id, namespace.name);
    if (!recursive && content.tabulars + content.softDeleted + content.children > 0)
      throw new CatalogError(409, "NamespaceNotEmptyException", `Namespace with name '${dotted}' is not empty.`, [
        `Contains ${content.tabulars} tables/views/generic tables, ${content.softDeleted} soft-deleted tables/views/generic tables and ${content.children} child namespaces.`,
        "Use 'recursive' flag to delete all content.",
        detail,
      ]);
    const ids = await namespaceTree(client, warehouse.id, namespace.name);
    const { rows } = await client.query<{ id: string; kind: TabularKind; location: string; entityName: string[] }>(
      `SELECT tabular_id AS id, kind, location, n.name || t.name AS "entityName"
       FROM tabular t JOIN namespace n USING (namespace_id) WHERE namespace_id = ANY($1)`,
      [ids],
    );
    for (const tabular of rows) await dropTabular(client, warehouse, tabular, { purge, hard: true });
    await deleteNamespaces(client, ids);
    gone.push(...rows.map(({ id, kind }) => tabularObject(kind, warehouse.id, id)));
    gone.push(...ids.map((id): ObjectId => `namespace:${id}`));
  });
  for (const object of gone) await call.catalog.authorizer?.removed(object);
  tasks.wake();
  return noContent;
}

async function getProtection(call: Call): Promise<Answer> {
  const id = idOf(call, "namespaceId", "namespace_id");
  await permitById(call, id, "can_get_metadata");
  const { rows } = await call.catalog.database.read.query<{ protected: boolean; updated_at: string | null }>(
    `SELECT protected, ${rfc3339("updated_at")} AS updated_at FROM namespace WHERE warehouse_id = $1 AND namespace_id = $2`,
    [warehouseIdOf(call), id],
  );
  if (rows[0] === undefined) throw noNamespaceOf(id);
  return ok(rows[0]);
}

async function permitById(call: Call, id: string, action: ActionOn<"namespace">): Promise<void> {
  await permitOnNamespace(call, warehouseIdOf(call), { id, name: [id] }, action, noNamespaceOf(id));
}

function noNamespaceOf(id: string): CatalogError {
  return new CatalogError(404, "NoSuchNamespaceException", `Namespace with id '${id}' does not exist`);
}

const protectionRequest = struct("SetProtectionRequest", { protected: boolean, recursive: optional(boolean, false) });

async function setProtection(call: Call): Promise<Answer> {
  const request = call.body(protectionRequest);
  const id = idOf(call, "namespaceId", "namespace_id");
  await permitById(call, id, "can_set_protection");
  const { rows } = await call.catalog.database.write.query<{ at: string }>(
    `UPDATE namespace SET protected = $3, updated_at = clock_timestamp() WHERE warehouse_id = $1 AND namespace_id = $2
     RETURNING ${rfc3339("updated_at")} AS at`,
    [warehouseIdOf(call), id, request.protected],
  );
  if (rows[0] === undefined) throw noNamespaceOf(id);
  return ok({ protected: request.protected, updated_at: rows[0].at });
}

const namespaces = "/catalog/v1/:prefix/namespaces";

export const namespaceRoutes: readonly Route[] = [
  { method: "POST", path: namespaces, handle: once(create, createdBefore) },
  { method: "GET", path: namespaces, handle: list },
  { method: "GET", path: `${namespaces}/:namespace`, handle: get },
  { method: "HEAD", path: `${namespaces}/:namespace`, handle: head },
  { method: "DELETE", path: `${namespaces}/:namespace`, handle: once(remove, () => noContent) },
  {
    method: "POST",
    path: `${namespaces}/:namespace/properties`,
    handle: once(updateProperties, propertiesUpdatedBefore),
  },
  { method: "GET", path: "/management/v1/warehouse/:id/namespace/:namespaceId/protection", handle: getProtection },
  { method: "POST", path: "/management/v1/warehouse/:id/namespace/:namespaceId/protection", handle: setProtection },
];
