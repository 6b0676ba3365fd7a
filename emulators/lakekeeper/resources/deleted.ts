import { tabularObject } from "../authz/authorizer.ts";
import { type Answer, type Call, noContent, ok, type Route } from "../http/call.ts";
import { CatalogError, PlainTextError } from "../http/errors.ts";
import { nextPage, readPage } from "../http/paging.ts";
import { boolean, list as listOf, oneOf, struct, uuid } from "../http/shape.ts";
import { isUuid } from "../ids.ts";
import { violatedConstraint } from "../store/database.ts";
import { tabularExists, type TabularKind } from "../store/tabulars.ts";
import { deleteTasksOf } from "../store/tasks.ts";
import { rfc3339 } from "../store/time.ts";
import { listable, permitOnTabular, permitOnWarehouse } from "./permit.ts";
import { idOf, warehouseIdOf } from "./scope.ts";

interface Deleted {
  readonly id: string;
  readonly typ: TabularKind;
  readonly createdMicros: string;
}

function wantedNamespace(call: Call): string | null {
  const id = call.query.get("namespaceId");
  if (id !== null && !isUuid(id))
    throw new PlainTextError(400, "Failed to deserialize query string: namespaceId: UUID parsing failed");
  return id;
}

/** Soft-deleted tables and views that can still be had back, oldest first. */
async function list(call: Call): Promise<Answer> {
  const { settings, database } = call.catalog;
  const page = readPage(call.query, { default: settings.pageSizeDefault, max: settings.pageSizeMax });
  const warehouse = warehouseIdOf(call);
  await permitOnWarehouse(call, warehouse, "can_list_deleted_tabulars");
  const { rows } = await database.read.query<Deleted>(
    `SELECT t.tabular_id AS id, t.name, n.name AS namespace, kind AS typ, t.warehouse_id AS "warehouse-id",
       ${rfc3339("t.created_at")} AS "created-at", ${rfc3339("deleted_at")} AS "deleted-at",
       ${rfc3339("scheduled_for")} AS "expiration-date", (extract(epoch FROM t.created_at) * 1000000)::bigint AS "createdMicros"
     FROM tabular t JOIN namespace n USING (namespace_id)
       JOIN task ON task.warehouse_id = t.warehouse_id AND task.tabular_id = t.tabular_id
     WHERE t.warehouse_id = $1 AND deleted_at IS NOT NULL AND queue = 'tabular_expiration'
       AND ($5::uuid IS NULL OR t.namespace_id = $5)
       AND (t.created_at, t.tabular_id) > (to_timestamp(0) + $2::bigint * interval '1 microsecond', $3::uuid)
     ORDER BY t.created_at, t.tabular_id LIMIT $4`,
    [
      warehouse,
      page.afterMicros,
      page.afterId || "00000000-0000-0000-0000-000000000000",
      page.size ?? null,
      wantedNamespace(call),
    ],
  );
  const listed = await listable(call, rows, ({ typ, id }) => tabularObject(typ, warehouse, id));
  const tabulars = listed.map((row) => ({ ...row, createdMicros: undefined }));
  return ok({ tabulars, ...nextPage(page, rows) });
}

const undropRequest = struct("UndropTabularsRequest", {
  targets: listOf(struct("TabularIdentUuid", { id: uuid, type: oneOf("table", "view", "generic-table") })),
});

/** Takes back soft deletions: all of the request or none. */
async function undrop(call: Call): Promise<Answer> {
  const warehouse = warehouseIdOf(call);
  const ids = call.body(undropRequest).targets.map((target) => target.id);
  await permitOnWarehouse(call, warehouse, "can_use");
  await call.catalog.database.transaction(async (client) => {
    const found = await client.query<{ id: string; name: string; kind: TabularKind }>(
      "SELECT tabular_id AS id, name, kind FROM tabular WHERE warehouse_id = $1 AND tabular_id = ANY($2)",
      [warehouse, ids],
    );
    for (const tabular of found.rows) await permitOnTabular(call, { ...tabular, warehouseId: warehouse }, "can_undrop");
    const restored = await client
      .query(
        "UPDATE tabular SET deleted_at = NULL WHERE warehouse_id = $1 AND tabular_id = ANY($2) AND deleted_at IS NOT NULL",
        [warehouse, ids],
      )
      .catch((error: unknown) => {
        throw violatedConstraint(error) === undefined ? error : tabularExists("Error undropping tabulars in catalog");
      });
    if (restored.rowCount !== new Set(ids).size)
      throw new CatalogError(
        404,
        "NoSuchTabularException",
        "Not all tabulars to undrop were found among the soft-deleted ones.",
      );
    await deleteTasksOf(client, warehouse, ids);
  });
  return noContent;
}

const protectionRequest = struct("SetProtectionRequest", { protected: boolean });

interface Protection {
  readonly protected: boolean;
  readonly updated_at: string | null;
}

/** The only row of a statement about the table or view in the path. Throws 404 when there is none. */
function protectionIn(rows: readonly Protection[], kind: TabularKind, id: string): Answer {
  if (rows[0] !== undefined) return ok(rows[0]);
  throw noTabularOf(kind, id);
}

function noTabularOf(kind: TabularKind, id: string): CatalogError {
  return new CatalogError(404, "NoSuchTabularException", `Tabular (${kind}) with id '${id}' does not exist`);
}

async function permitById(
  call: Call,
  kind: TabularKind,
  id: string,
  action: "can_get_metadata" | "can_set_protection",
): Promise<void> {
  const tabular = { kind, warehouseId: warehouseIdOf(call), id, name: id };
  await permitOnTabular(call, tabular, action, noTabularOf(kind, id));
}

async function getProtection(call: Call, kind: TabularKind): Promise<Answer> {
  const id = idOf(call, "tabular", `${kind}_id`);
  await permitById(call, kind, id, "can_get_metadata");
  const { rows } = await call.catalog.database.read.query<Protection>(
    `SELECT protected, ${rfc3339("updated_at")} AS updated_at FROM tabular
     WHERE warehouse_id = $1 AND tabular_id = $2 AND kind = $3`,
    [warehouseIdOf(call), id, kind],
  );
  return protectionIn(rows, kind, id);
}

async function setProtection(call: Call, kind: TabularKind): Promise<Answer> {
  const request = call.body(protectionRequest);
  const id = idOf(call, "tabular", `${kind}_id`);
  await permitById(call, kind, id, "can_set_protection");
  const { rows } = await call.catalog.database.write.query<Protection>(
    `UPDATE tabular SET protected = $4, updated_at = clock_timestamp()
     WHERE warehouse_id = $1 AND tabular_id = $2 AND kind = $3
     RETURNING protected, ${rfc3339("updated_at")} AS updated_at`,
    [warehouseIdOf(call), id, kind, request.protected],
  );
  return protectionIn(rows, kind, id);
}

const warehouse = "/management/v1/warehouse/:id";

export const deletedRoutes: readonly Route[] = [
  { method: "GET", path: `${warehouse}/deleted-tabulars`, handle: list },
  { method: "POST", path: `${warehouse}/deleted-tabulars/undrop`, handle: undrop },
  { method: "GET", path: `${warehouse}/table/:tabular/protection`, handle: (call) => getProtection(call, "table") },
  { method: "GET", path: `${warehouse}/view/:tabular/protection`, handle: (call) => getProtection(call, "view") },
  { method: "POST", path: `${warehouse}/table/:tabular/protection`, handle: (call) => setProtection(call, "table") },
  { method: "POST", path: `${warehouse}/view/:tabular/protection`, handle: (call) => setProtection(call, "view") },
];
