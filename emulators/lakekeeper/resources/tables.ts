import { tabularObject } from "../authz/authorizer.ts";
import { type Answer, type Call, noContent, ok, type Route } from "../http/call.ts";
import { PlainTextError } from "../http/errors.ts";
import { type JsonObject, parseJson, stringifyJson } from "../http/json.ts";
import { nextPage, readPage } from "../http/paging.ts";
import { list as listOf, object, string, struct } from "../http/shape.ts";
import { withReferencedSnapshots } from "../iceberg/metadata.ts";
import { getNamespace } from "../store/namespaces.ts";
import {
  findTabular,
  getTabular,
  listTabulars,
  noSuchTabular,
  renameTabular,
  type Tabular,
  type TabularKind,
} from "../store/tabulars.ts";
import type { Warehouse } from "../store/warehouses.ts";
import {
  type Delegation,
  entityTag,
  readDelegation,
  stillFresh,
  tableAccess,
  tablePath,
  type TableAccess,
} from "./access.ts";
import { change, once } from "./once.ts";
import { listable, permitOnNamespace, permitOnTabular, storagePermission, tabularForbidden } from "./permit.ts";
import { splitNamespace, warehouseOf } from "./scope.ts";

/** The answer about a table. The stored metadata text is put in as it is: quick, and no 64-bit integer is touched. */
export function loadResult(
  tabular: Pick<Tabular, "metadata"> & { metadataLocation: string | null },
  config: object | null,
  storageCredentials?: TableAccess["storageCredentials"],
): string {
  const tail = storageCredentials === undefined ? "" : `,"storage-credentials":${JSON.stringify(storageCredentials)}`;
  return `{"metadata-location":${JSON.stringify(tabular.metadataLocation)},"metadata":${tabular.metadata},"config":${JSON.stringify(config)}${tail}}`;
}

interface Found {
  readonly warehouse: Warehouse;
  readonly table: Tabular;
  readonly namespace: readonly string[];
}

async function find(call: Call, name = call.param("tabular")): Promise<Found> {
  const namespace = splitNamespace(call.param("namespace"));
  const warehouse = await warehouseOf(call);
  const table = await getTabular(call.catalog.database.read, "table", warehouse.id, namespace, name);
  return { warehouse, table, namespace };
}

/** Undefined for a caller who may see the table, but nothing of its files. */
async function accessTo(
  call: Call,
  { warehouse, table, namespace }: Found,
  delegation: Delegation,
): Promise<TableAccess | undefined> {
  const permission = await storagePermission(call, warehouse, table);
  if (permission === undefined) return undefined;
  const target = { id: table.id, location: table.location, path: tablePath(namespace, table.name), permission };
  return tableAccess(call, warehouse, target, delegation);
}

/** All snapshots, or with `snapshots=refs` those that branches and tags point to. */
function wantedSnapshots(call: Call, table: Tabular): Tabular {
  const wanted = call.query.get("snapshots") ?? "all";
  if (wanted === "all") return table;
  if (wanted !== "refs")
    throw new PlainTextError(
      400,
      `Failed to deserialize query string: snapshots: unknown variant \`${wanted}\`, expected \`all\` or \`refs\``,
    );
  return { ...table, metadata: stringifyJson(withReferencedSnapshots(parseJson(table.metadata) as JsonObject)) };
}

async function load(call: Call): Promise<Answer> {
  const found = await find(call);
  const delegation = readDelegation(call.header("x-iceberg-access-delegation"));
  const tag = call.header("if-none-match");
  if (tag !== undefined) await permitOnTable(call, found, "can_get_metadata");
  if (tag !== undefined && stillFresh(tag, found.table.metadataLocation, !delegation.clientManaged))
    return { status: 304, headers: { etag: tag } };
  return show(call, { ...found, table: wantedSnapshots(call, found.table) }, delegation);
}

async function show(call: Call, found: Found, delegation: Delegation): Promise<Answer> {
  const access = await accessTo(call, found, delegation);
  return ok(loadResult(found.table, access?.config ?? null, access?.storageCredentials), {
    etag: entityTag(found.table.metadataLocation, access?.revalidateAt),
  });
}

async function permitOnTable(
  call: Call,
  { warehouse, table: { id, name } }: Found,
  action: "can_get_metadata" | "can_commit",
): Promise<void> {
  await permitOnTabular(call, { kind: "table", warehouseId: warehouse.id, id, name }, action);
}

/** The answer to a request that has made a table before, and is sent again. */
export async function madeBefore(call: Call): Promise<Answer> {
  const { name } = call.body(struct("MadeTable", { name: string }));
  return show(call, await find(call, name), readDelegation(call.header("x-iceberg-access-delegation")));
}

/** The answer to a commit that has succeeded before, and is sent again. */
export async function committedBefore(call: Call): Promise<Answer> {
  const found = await find(call);
  await permitOnTable(call, found, "can_commit");
  const { table } = found;
  return ok(loadResult(table, null), { etag: entityTag(table.metadataLocation) });
}

async function credentials(call: Call): Promise<Answer> {
  const found = await find(call);
  const access = await accessTo(call, found, { clientManaged: false, vended: true, signing: false });
  if (access === undefined) {
    const { id, name } = found.table;
    throw tabularForbidden({ kind: "table", warehouseId: found.warehouse.id, id, name }, "can_read_data");
  }
  return ok({ "storage-credentials": access.storageCredentials });
}

async function head(call: Call): Promise<Answer> {
  await permitOnTable(call, await find(call), "can_get_metadata");
  return noContent;
}

async function list(call: Call): Promise<Answer> {
  const { settings, database } = call.catalog;
  const name = splitNamespace(call.param("namespace"));
  const warehouse = await warehouseOf(call);
  const namespace = await getNamespace(database.read, warehouse.id, name);
  await permitOnNamespace(call, warehouse.id, namespace, "can_list_tables");
  const page = readPage(call.query, { max: settings.pageSizeMax });
  const found = await listTabulars(database.read, "table", namespace.id, page);
  const listed = await listable(call, found, ({ id }) => tabularObject("table", warehouse.id, id));
  const identifiers = listed.map((table) => ({ namespace: namespace.name, name: table.name }));
  const withIds = call.flag("returnUuids", false) ? { "table-uuids": listed.map((table) => table.id) } : {};
  return ok({ identifiers, ...withIds, ...nextPage(page, found) });
}

const identifier = struct("TableIdent", { namespace: listOf(string), name: string });
const renameRequest = struct("RenameTableRequest", { source: identifier, destination: identifier });

/**
 * Renames a table or view, and moves it to another namespace if need be. As in Lakekeeper 0.13.3, the authorizer is not
 * told: who could do what with it by way of the old namespace still can.
 */
export async function rename(call: Call, kind: TabularKind): Promise<Answer> {
  const { source, destination } = call.body(renameRequest);
  const warehouse = await warehouseOf(call);
  await change(call, warehouse, async (client) => {
    const table = await getTabular(client, kind, warehouse.id, source.namespace, source.name, true);
    const target = await getNamespace(client, warehouse.id, destination.namespace);
    await permitOnNamespace(call, warehouse.id, target, `can_create_${kind}`);
    await permitOnTabular(call, { kind, warehouseId: warehouse.id, id: table.id, name: table.name }, "can_rename");
    const taken = await findTabular(client, kind, warehouse.id, destination.namespace, destination.name);
    // A taken name reads as a missing table: seen with Lakekeeper 0.13.3.
    if (taken !== undefined && taken.id !== table.id) throw noSuchTabular(kind, "Error renaming tabular in catalog");
    await renameTabular(client, warehouse.id, table.id, target.id, destination.name);
  });
  return noContent;
}

/** Clients report scans; nothing is kept. */
async function metrics(call: Call): Promise<Answer> {
  call.body(object);
  await warehouseOf(call);
  return noContent;
}

const namespace = "/catalog/v1/:prefix/namespaces/:namespace";

export const tableRoutes: readonly Route[] = [
  { method: "GET", path: `${namespace}/tables`, handle: list },
  { method: "GET", path: `${namespace}/tables/:tabular`, handle: load },
  { method: "HEAD", path: `${namespace}/tables/:tabular`, handle: head },
  { method: "GET", path: `${namespace}/tables/:tabular/credentials`, handle: credentials },
  { method: "POST", path: `${namespace}/tables/:tabular/metrics`, handle: metrics },
  {
    method: "POST",
    path: "/catalog/v1/:prefix/tables/rename",
    handle: once(
      (call) => rename(call, "table"),
      () => noContent,
    ),
  },
];
