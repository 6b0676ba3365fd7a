import { Unreachable } from "../clients/http.ts";
import type { ReadResult } from "./provider.ts";

/**
 * Reads from the catalog, or keeps what the state says while it does not answer: a refresh must be able to go on when
 * the server is down, since the next `up` is what starts it again. Silence is never taken for "gone".
 */
export async function readOrKeep<Outputs>(
  id: string,
  props: Outputs,
  read: () => Promise<ReadResult<Outputs>>,
): Promise<ReadResult<Outputs>> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
    console.log(`not refreshed, the state is kept as it is: ${error.message}`);
    return { id, props };
  }
}

/** Few attempts: a refresh should not hang on a server that is down. */
export const BRIEFLY = { attempts: 3 } as const;
