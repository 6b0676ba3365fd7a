import { uuid7 } from "../ids.ts";
import type { Queryable } from "./database.ts";

export type Queue = "tabular_expiration" | "tabular_purge";

export interface Task {
  readonly id: string;
  readonly warehouseId: string;
  readonly queue: Queue;
  readonly tabularId: string;
  readonly location: string;
  /** Levels of the namespace, then the name. */
  readonly entityName: readonly string[];
  readonly purge: boolean;
  readonly attempt: number;
}

export async function insertTask(
  client: Queryable,
  task: Pick<Task, "warehouseId" | "queue" | "tabularId" | "location" | "entityName" | "purge">,
  delaySeconds = 0,
): Promise<void> {
  await client.query(
    `INSERT INTO task (task_id, warehouse_id, queue, tabular_id, location, purge, entity_name, scheduled_for)
     VALUES ($1, $2, $3, $4, $5, $6, $7, clock_timestamp() + $8 * interval '1 second')`,
    [uuid7(), task.warehouseId, task.queue, task.tabularId, task.location, task.purge, task.entityName, delaySeconds],
  );
}

/** A task that is due; its row stays locked until the transaction ends, so that no other process takes it too. */
export async function takeTask(client: Queryable): Promise<Task | undefined> {
  const { rows } = await client.query<Task>(
    `SELECT task_id AS id, warehouse_id AS "warehouseId", queue, tabular_id AS "tabularId", location, entity_name AS "entityName", purge, attempt
     FROM task WHERE scheduled_for <= clock_timestamp() ORDER BY scheduled_for LIMIT 1 FOR UPDATE SKIP LOCKED`,
  );
  return rows[0];
}

export async function deleteTask(client: Queryable, id: string): Promise<void> {
  await client.query("DELETE FROM task WHERE task_id = $1", [id]);
}

export async function postponeTask(client: Queryable, id: string, seconds: number): Promise<void> {
  await client.query(
    `UPDATE task SET attempt = attempt + 1, scheduled_for = clock_timestamp() + $2 * interval '1 second' WHERE task_id = $1`,
    [id, seconds],
  );
}

/** Takes back the expiration of soft-deleted tables. */
export async function deleteTasksOf(
  client: Queryable,
  warehouseId: string,
  tabularIds: readonly string[],
): Promise<void> {
  await client.query("DELETE FROM task WHERE warehouse_id = $1 AND tabular_id = ANY($2)", [warehouseId, tabularIds]);
}
