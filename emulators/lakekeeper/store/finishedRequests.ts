import type { Queryable } from "./database.ts";

/** Longer than the 30 minutes within which clients are told to send a request again. */
const retention = "1 hour";

export async function isFinished(client: Queryable, warehouseId: string, key: string): Promise<boolean> {
  const { rowCount } = await client.query({
    name: "finished request",
    text: "SELECT 1 FROM finished_request WHERE warehouse_id = $1 AND idempotency_key = $2",
    values: [warehouseId, key],
  });
  return rowCount === 1;
}

/** Remembers a request's key, and forgets old ones. False when another transaction has remembered it meanwhile. */
export async function finish(client: Queryable, warehouseId: string, key: string): Promise<boolean> {
  await client.query(
    `DELETE FROM finished_request WHERE (warehouse_id, idempotency_key) IN (
       SELECT warehouse_id, idempotency_key FROM finished_request
       WHERE created_at < clock_timestamp() - $1::interval LIMIT 100 FOR UPDATE SKIP LOCKED)`,
    [retention],
  );
  const { rowCount } = await client.query(
    "INSERT INTO finished_request (warehouse_id, idempotency_key) VALUES ($1, $2) ON CONFLICT DO NOTHING",
    [warehouseId, key],
  );
  return rowCount === 1;
}
