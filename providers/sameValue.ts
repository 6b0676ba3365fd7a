import { isDeepStrictEqual } from "node:util";

/** Whether two plain values are equal, whatever the order of their keys; a missing key equals an undefined one. */
export function sameValue(left: unknown, right: unknown): boolean {
  return isDeepStrictEqual(withoutUndefined(left), withoutUndefined(right));
}

function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(entries.map(([key, item]) => [key, withoutUndefined(item)]));
}
