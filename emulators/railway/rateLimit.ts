/** How many calls a plan allows; absent: any number. */
export interface RateLimits {
  readonly perSecond?: number;
  readonly perHour?: number;
}

export interface RateLimitState {
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds since 1970 at which it begins anew. */
  readonly reset: number;
}

interface Window {
  readonly length: number;
  readonly limit: number;
  end: number;
  used: number;
}

/** Counts calls in windows of a second and of an hour, as Railway's API documentation has its limits. */
export class RateLimit {
  readonly #windows: Window[];

  constructor({ perSecond, perHour }: RateLimits) {
    const windows = [
      { length: 1_000, limit: perSecond },
      { length: 3_600_000, limit: perHour },
    ];
    this.#windows = windows.flatMap(({ length, limit }) =>
      limit === undefined ? [] : [{ length, limit, end: 0, used: 0 }],
    );
  }

  /**
   * Counts a call, unless it is one too many.
   *
   * @returns the window of which the least is left, with -1 when the call was refused; undefined without limits
   */
  take(now: number): RateLimitState | undefined {
    for (const window of this.#windows) {
      if (now >= window.end) Object.assign(window, { end: now + window.length, used: 0 });
    }
    const isRefused = this.#windows.some(({ used, limit }) => used >= limit);
    if (!isRefused) for (const window of this.#windows) window.used += 1;
    return this.#windows
      .map(({ limit, used, end }) => ({ limit, remaining: limit - used - (isRefused ? 1 : 0), reset: end }))
      .sort((one, other) => one.remaining - other.remaining)[0];
  }
}
