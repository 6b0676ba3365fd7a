import { NoAnswer } from "../clients/errors.ts";
import { HttpError, type HttpClient } from "../clients/http.ts";
import { isNoSuchWarehouse, Lakekeeper } from "../clients/lakekeeper.ts";
import type { ReadResult } from "./provider.ts";

/**
 * Reads from the catalog, or keeps what the state says while it, or whoever gives out tokens for it, does not answer: a
 * refresh must be able to go on when the server is down, since the next `up` is what starts it again. Silence is never
 * taken for "gone".
 */
export async function readOrKeep<Outputs>(
  id: string,
  props: Outputs,
  read: () => Promise<ReadResult<Outputs>>,
): Promise<ReadResult<Outputs>> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    console.log(`not refreshed, the state is kept as it is: ${error.message}`);
    return { id, props };
  }
}

/** Few attempts: a refresh should not hang on a server that is down. */
export const BRIEFLY = { attempts: 3 } as const;

/**
 * Works in a warehouse, or settles for `otherwise` when the warehouse is certainly gone. A 404 alone does not tell: it
 * also follows a change of the warehouse's state for up to a minute.
 */
export async function inWarehouse<T>(
  http: HttpClient,
  warehouseId: string,
  work: () => Promise<T>,
  otherwise: T,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isNoSuchWarehouse(error)) throw error;
    const warehouses = await new Lakekeeper(http).warehouses();
    if (warehouses.some((warehouse) => warehouse["warehouse-id"] === warehouseId)) throw error;
    return otherwise;
  }
}

/** For a call that only helps to explain another failure: its own must not hide that one. */
export async function ifAnswered<T>(call: Promise<T>, otherwise: T): Promise<T> {
  return call.catch((error: unknown) => {
    if (error instanceof HttpError) return otherwise;
    throw error;
  });
}

/** The first few of a list of names. */
export function named(names: readonly string[]): string {
  return names.slice(0, 5).join(", ") + (names.length > 5 ? ` and ${names.length - 5} more` : "");
}
