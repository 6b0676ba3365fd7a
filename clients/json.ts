/**
 * Parses JSON without rounding: an integer beyond 2^53, as snapshot ids are, comes as a bigint, so that two documents
 * compare by their true values.
 */
export function parseJson(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
    typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? "")
      ? BigInt(context!.source!)
      : value,
  );
}
