import { clock } from "../../../clients/retry.ts";
import { mayBeDone } from "./errors.ts";

/** A mutation without a proper answer may still be at work: how often, and how far apart, its effect is looked for. */
const LOOKS = 5;
const MILLISECONDS_BETWEEN_LOOKS = 2_000;
const MOST_TRIES = 3;

/**
 * Makes something that must not be made twice. When the outcome is open (timeout, 504, reset, a masked error), it is
 * looked for by its natural key, and only made again when it does not turn up.
 */
export async function makeOnce<T>(make: () => Promise<T>, find: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await make();
    } catch (error) {
      if (!mayBeDone(error)) throw error;
      console.log(`looking whether it was done all the same: ${error.message}`);
      for (let look = 1; look <= LOOKS; look++) {
        await clock.sleep(MILLISECONDS_BETWEEN_LOOKS);
        const found = await find();
        if (found !== undefined) return found;
      }
      if (tries >= MOST_TRIES) throw error;
    }
  }
}
