import { type ObjectId, type Question, tabularObject } from "../authz/authorizer.ts";
import type { ActionOn } from "../authz/model.ts";
import type { Call } from "../http/call.ts";
import { CatalogError } from "../http/errors.ts";
import { type Namespace, noSuchNamespace } from "../store/namespaces.ts";
import { noSuchTabular, type Tabular, type TabularKind } from "../store/tabulars.ts";
import { noSuchWarehouse, type Warehouse } from "../store/warehouses.ts";

// What a caller may not do is refused with 403; what it may not even see, with the 404 of something that is not there.
// Without an authorizer everybody may do everything, and nothing is asked.

type TabularAction = ActionOn<"lakekeeper_table"> & ActionOn<"lakekeeper_view">;

async function ask(call: Call, ...questions: Question[]): Promise<boolean[]> {
  const { authorizer } = call.catalog;
  return authorizer === undefined ? questions.map(() => true) : authorizer.allowed(call.identity, questions);
}

function forbidden(what: string, action: string, where: string): CatalogError {
  const name = action.replace(/^can_/, "");
  return new CatalogError(403, `${what}ActionForbidden`, `${what} action \`${name}\` forbidden on ${where}`);
}

/** Throws 403 ServerActionForbidden. */
export async function permitOnServer(call: Call, action: ActionOn<"server">): Promise<void> {
  const { authorizer } = call.catalog;
  if (authorizer === undefined) return;
  const [allowed] = await ask(call, { object: authorizer.server, relation: action });
  if (allowed !== true) throw forbidden("Server", action, `server \`${authorizer.server.slice("server:".length)}\``);
}

/** Throws 403 ProjectActionForbidden, also for a project that is not there. */
export async function permitOnProject(call: Call, id: string, action: ActionOn<"project">): Promise<void> {
  const [allowed] = await ask(call, { object: `project:${id}`, relation: action });
  if (allowed !== true) throw forbidden("Project", action, `project \`${id}\``);
}

/** Throws 404 (`hidden`, or NoSuchWarehouseException) and 403 WarehouseActionForbidden. */
export async function permitOnWarehouse(
  call: Call,
  id: string,
  action: ActionOn<"warehouse">,
  hidden: CatalogError = noSuchWarehouse(id),
): Promise<void> {
  const object: ObjectId = `warehouse:${id}`;
  const [visible, allowed] = await ask(call, { object, relation: "can_use" }, { object, relation: action });
  if (visible !== true) throw hidden;
  if (allowed !== true) throw forbidden("Warehouse", action, `warehouse \`${id}\``);
}

/** Throws 404 (`hidden`, or NoSuchNamespaceException) and 403 NamespaceActionForbidden. */
export async function permitOnNamespace(
  call: Call,
  warehouseId: string,
  namespace: Pick<Namespace, "id" | "name">,
  action: ActionOn<"namespace">,
  hidden: CatalogError = noSuchNamespace(warehouseId, namespace.name),
): Promise<void> {
  const object: ObjectId = `namespace:${namespace.id}`;
  const [visible, allowed] = await ask(call, { object, relation: "can_get_metadata" }, { object, relation: action });
  if (visible !== true) throw hidden;
  if (allowed === true) return;
  const where = `namespace with name '${namespace.name.join(".")}' in warehouse \`${warehouseId}\``;
  throw forbidden("Namespace", action, where);
}

/** A table or view as far as permissions are about it. */
export interface TabularRef {
  readonly kind: TabularKind;
  readonly warehouseId: string;
  readonly id: string;
  /** For messages. */
  readonly name: string;
}

/** Throws 404 (`hidden`, or NoSuchTableException and NoSuchViewException), 403 TableActionForbidden and ViewActionForbidden. */
export async function permitOnTabular(
  call: Call,
  tabular: TabularRef,
  action: TabularAction,
  hidden: CatalogError = noSuchTabular(tabular.kind),
): Promise<void> {
  const object = tabularObject(tabular.kind, tabular.warehouseId, tabular.id);
  const [visible, allowed] = await ask(call, { object, relation: "can_get_metadata" }, { object, relation: action });
  if (visible !== true) throw hidden;
  if (allowed !== true) throw tabularForbidden(tabular, action);
}

export function tabularForbidden({ kind, warehouseId, name }: TabularRef, action: string): CatalogError {
  const what = kind === "table" ? "Table" : "View";
  return forbidden(what, action, `${kind} '${name}' in warehouse \`${warehouseId}\``);
}

/** What keys for the files of a table may do. */
export type StoragePermission = "read" | "write";

/** Undefined for who may see the table and nothing of its files. Throws 404 NoSuchTableException. */
export async function storagePermission(
  call: Call,
  warehouse: Warehouse,
  table: Pick<Tabular, "id">,
): Promise<StoragePermission | undefined> {
  const object = tabularObject("table", warehouse.id, table.id);
  const relations = [
    "can_get_metadata",
    "can_read_data",
    "can_write_data",
  ] as const satisfies ActionOn<"lakekeeper_table">[];
  const [visible, reads, writes] = await ask(call, ...relations.map((relation) => ({ object, relation })));
  if (visible !== true) throw noSuchTabular("table");
  return writes === true ? "write" : reads === true ? "read" : undefined;
}

/** Whether the caller may list all projects, whatever it may do in them. */
export async function listsAllProjects(call: Call): Promise<boolean> {
  const { authorizer } = call.catalog;
  if (authorizer === undefined) return true;
  const [all] = await ask(call, { object: authorizer.server, relation: "can_list_all_projects" });
  return all === true;
}

/** Those of the items that the caller may see in a list. */
export async function listable<T>(call: Call, items: readonly T[], objectOf: (item: T) => ObjectId): Promise<T[]> {
  const visible = await ask(
    call,
    ...items.map((item) => ({ object: objectOf(item), relation: "can_include_in_list" })),
  );
  return items.filter((_, index) => visible[index] === true);
}
