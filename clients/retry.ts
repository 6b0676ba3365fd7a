import { UserError } from "./errors.ts";

/** The clock of all waiting and retrying here; a test may put a faster one in its place. */
export const clock = {
  now: (): number => Date.now(),
  sleep: (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds)),
};

/** Exponential backoff with jitter, in milliseconds: about `first`, twice that, four times that, at most `most`. */
export function backoff(attempt: number, { first = 250, most = 5_000 } = {}): number {
  return Math.min(first * 2 ** (attempt - 1), most) * (0.75 + Math.random() / 2);
}

/**
 * Runs an action again until it succeeds or its error is to be passed on.
 *
 * @param delayAfter milliseconds to wait after this failure of the nth attempt (from 1), or undefined to give up.
 */
export async function retry<T>(
  action: () => Promise<T>,
  delayAfter: (error: unknown, attempt: number) => number | undefined,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await action();
    } catch (error) {
      const delay = delayAfter(error, attempt);
      if (delay === undefined) throw error;
      await clock.sleep(delay);
    }
  }
}

/** What a look at a condition gave: the value it waits for, or how things stand. */
export type Look<T> = { readonly value: T } | { readonly waiting: string };

export interface WaitOptions {
  /** What is awaited, as in "waiting for <what>". */
  readonly what: string;
  readonly deadlineSeconds: number;
  /** What to do when the deadline has passed. */
  readonly remedy: string;
  readonly everyMilliseconds?: number;
  /** Where progress is told, a few seconds in and then ever more rarely. */
  readonly say?: (message: string) => void;
}

/** Looks at a condition until it holds. Throws a `UserError` at the deadline; whatever the look throws passes. */
export async function waitFor<T>(look: () => Promise<Look<T>>, options: WaitOptions): Promise<T> {
  const { what, deadlineSeconds, remedy, everyMilliseconds = 1_000, say = console.log } = options;
  const start = clock.now();
  let tellAt = 3;
  for (;;) {
    const seen = await look();
    if ("value" in seen) return seen.value;
    const seconds = (clock.now() - start) / 1_000;
    if (seconds >= deadlineSeconds) {
      throw new UserError(`Waited ${deadlineSeconds} s for ${what}, in vain: ${seen.waiting}. ${remedy}`);
    }
    if (seconds >= tellAt) {
      say(`waiting for ${what} (${Math.round(seconds)} s, at most ${deadlineSeconds} s): ${seen.waiting}`);
      tellAt *= 2;
    }
    await clock.sleep(everyMilliseconds);
  }
}
