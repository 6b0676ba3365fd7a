import type pg from "pg";
import type { Answer, Call } from "../http/call.ts";
import { CatalogError } from "../http/errors.ts";
import { isUuid } from "../ids.ts";
import { finish, isFinished } from "../store/finishedRequests.ts";
import type { Warehouse } from "../store/warehouses.ts";
import { warehouseOf } from "./scope.ts";

/** The header `Idempotency-Key`, which clients send with a change that they may send again. Throws 400. */
function keyOf(call: Call): string | undefined {
  const key = (call.header("idempotency-key") ?? "").trim();
  if (key === "") return undefined;
  if (!isUuid(key))
    throw new CatalogError(400, "InvalidIdempotencyKey", "Idempotency-Key header must be a valid UUID (RFC 9562)");
  return key;
}

/**
 * A handler that changes something and does it through {@link change}. Once it has succeeded under an `Idempotency-Key`,
 * requests with that key are answered by `again`, which tells what there is by then. Refusals are not remembered.
 */
export function once(
  handle: (call: Call) => Promise<Answer>,
  again: (call: Call) => Promise<Answer> | Answer,
): (call: Call) => Promise<Answer> {
  return async (call) => {
    const key = keyOf(call);
    if (key === undefined) return handle(call);
    const { id } = await warehouseOf(call);
    return (await isFinished(call.catalog.database.read, id, key)) ? again(call) : handle(call);
  };
}

/**
 * The transaction in which a request changes a warehouse's content; its `Idempotency-Key`, if it has one, is remembered in
 * it. Throws 409 RequestInProgress when a request with that key has just succeeded.
 */
export function change<T>(call: Call, warehouse: Warehouse, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const key = keyOf(call);
  return call.catalog.database.transaction(async (client) => {
    const result = await work(client);
    if (key !== undefined && !(await finish(client, warehouse.id, key)))
      throw new CatalogError(
        409,
        "RequestInProgress",
        "A request with this idempotency key is currently being processed. Please retry later.",
      );
    return result;
  });
}

/** Whether the request will be remembered, and so has to be one transaction. */
export function isRepeatable(call: Call): boolean {
  return keyOf(call) !== undefined;
}
