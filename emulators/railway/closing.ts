import { setTimeout as delay } from "node:timers/promises";

/** A promise's value, or undefined when the emulator ends first. */
export async function unlessClosing<T>(promise: Promise<T>, closing: AbortSignal): Promise<T | undefined> {
  const closed = Promise.withResolvers<undefined>();
  const onClose = (): void => closed.resolve(undefined);
  closing.addEventListener("abort", onClose);
  if (closing.aborted) onClose();
  try {
    return await Promise.race([promise, closed.promise]);
  } finally {
    closing.removeEventListener("abort", onClose);
  }
}

/** Waits, but not beyond the end of the emulator. */
export async function pause(milliseconds: number, closing: AbortSignal): Promise<void> {
  await delay(milliseconds, undefined, { signal: closing }).catch(() => undefined);
}
