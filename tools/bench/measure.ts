import type { Checkout } from "../../tests/support/checkout.ts";

/** One promise about speed or size, and how it is looked at in a checkout whose local stack is up. */
export interface Measure {
  readonly name: string;
  /** What is promised. */
  readonly target: string;
  run(checkout: Checkout): Promise<Measured>;
}

export interface Measured {
  /** With its unit. */
  readonly seen: string;
  readonly kept: boolean;
}

/** Seconds that `work` takes. */
export async function seconds(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1_000;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}
