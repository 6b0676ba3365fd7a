import { type Answer, type Call, ok, type Route } from "../http/call.ts";
import { list as listOf, maybe, oneOf, string, struct, u64 } from "../http/shape.ts";
import { rfc3339 } from "../store/time.ts";
import { permitOnWarehouse } from "./permit.ts";
import { warehouseIdOf } from "./scope.ts";

const listRequest = struct("ListTasksRequest", {
  status: maybe(listOf(oneOf("RUNNING", "SCHEDULED", "STOPPING", "CANCELLED", "SUCCESS", "FAILED"))),
  "queue-name": maybe(listOf(string)),
  "page-size": maybe(u64),
});

/** Tasks that are still to be done. Finished ones are not remembered: lists of them are empty. */
async function list(call: Call): Promise<Answer> {
  const request = call.body(listRequest);
  const warehouse = warehouseIdOf(call);
  await permitOnWarehouse(call, warehouse, "can_get_all_tasks");
  const wanted = request.status === null || request.status.includes("SCHEDULED");
  const { rows } = await call.catalog.database.read.query<object>(
    `SELECT task_id AS "task-id", project_id AS "project-id", warehouse_id AS "warehouse-id", queue AS "queue-name",
       'SCHEDULED' AS status, ${rfc3339("scheduled_for")} AS "scheduled-for", attempt, 0.0::float AS progress,
       ${rfc3339("task.created_at")} AS "created-at", entity_name AS "entity-name",
       json_build_object('type', 'table', 'table-id', tabular_id, 'warehouse-id', warehouse_id) AS entity
     FROM task JOIN warehouse USING (warehouse_id)
     WHERE warehouse_id = $1 AND $2 AND ($3::text[] IS NULL OR queue = ANY($3)) ORDER BY task.created_at LIMIT $4`,
    [warehouse, wanted, request["queue-name"], request["page-size"] ?? call.catalog.settings.pageSizeDefault],
  );
  return ok({ tasks: rows });
}

export const taskRoutes: readonly Route[] = [
  { method: "POST", path: "/management/v1/warehouse/:id/task/list", handle: list },
];
