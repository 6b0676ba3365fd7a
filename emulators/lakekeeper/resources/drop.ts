import { tabularObject } from "../authz/authorizer.ts";
import { type Answer, type Call, noContent, type Route } from "../http/call.ts";
import { CatalogError } from "../http/errors.ts";
import type { Queryable } from "../store/database.ts";
import { deleteTabular, getTabular, softDeleteTabular, type TabularKind } from "../store/tabulars.ts";
import { deleteTasksOf, insertTask } from "../store/tasks.ts";
import type { Warehouse } from "../store/warehouses.ts";
import { change, once } from "./once.ts";
import { permitOnTabular } from "./permit.ts";
import { splitNamespace, warehouseOf } from "./scope.ts";

/**
 * Removes a tabular at once, or after the warehouse's grace period; with `purge` its files are deleted then too. True when
 * it is gone.
 */
export async function dropTabular(
  client: Queryable,
  warehouse: Warehouse,
  tabular: { id: string; location: string; entityName: readonly string[] },
  how: { purge: boolean; hard: boolean },
): Promise<boolean> {
  const { id: tabularId, location, entityName } = tabular;
  const task = { warehouseId: warehouse.id, tabularId, location, entityName, purge: how.purge };
  if (warehouse.deleteProfile.type === "soft" && !how.hard) {
    await softDeleteTabular(client, warehouse.id, tabular.id);
    await insertTask(client, { ...task, queue: "tabular_expiration" }, warehouse.deleteProfile["expiration-seconds"]);
    return false;
  }
  await deleteTasksOf(client, warehouse.id, [tabular.id]);
  await deleteTabular(client, warehouse.id, tabular.id);
  if (how.purge) await insertTask(client, { ...task, queue: "tabular_purge" });
  return true;
}

/** DELETE of a table or view. Beware: `purgeRequested` is true unless the request says otherwise. */
async function drop(call: Call, kind: TabularKind): Promise<Answer> {
  const { tasks } = call.catalog;
  const namespace = splitNamespace(call.param("namespace"));
  const purge = call.flag("purgeRequested", true);
  const force = call.flag("force", false);
  const warehouse = await warehouseOf(call);
  const gone = await change(call, warehouse, async (client) => {
    const tabular = await getTabular(client, kind, warehouse.id, namespace, call.param("tabular"), true);
    const { id, name } = tabular;
    await permitOnTabular(call, { kind, warehouseId: warehouse.id, id, name }, "can_drop");
    if (tabular.protected && !force)
      throw new CatalogError(
        409,
        "TabularProtected",
        "Table is protected and force flag not set. Cannot delete protected table.",
      );
    const entityName = [...namespace, name];
    return (await dropTabular(client, warehouse, { ...tabular, entityName }, { purge, hard: force })) ? id : undefined;
  });
  if (gone !== undefined) await call.catalog.authorizer?.removed(tabularObject(kind, warehouse.id, gone));
  tasks.wake();
  return noContent;
}

const namespace = "/catalog/v1/:prefix/namespaces/:namespace";

export const dropRoutes: readonly Route[] = [
  {
    method: "DELETE",
    path: `${namespace}/tables/:tabular`,
    handle: once(
      (call) => drop(call, "table"),
      () => noContent,
    ),
  },
  {
    method: "DELETE",
    path: `${namespace}/views/:tabular`,
    handle: once(
      (call) => drop(call, "view"),
      () => noContent,
    ),
  },
];
