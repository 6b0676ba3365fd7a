/** A JSON value. Integers outside ±2^53 (Iceberg snapshot ids are 64 bits wide) are bigint, all other numbers number. */
export type Json = null | boolean | number | bigint | string | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}

type Reviver = (key: string, value: Json, context: { source?: string }) => Json;
const parseWithSource = JSON.parse as (text: string, reviver?: Reviver) => Json;
const { rawJSON: rawJson } = JSON as unknown as { rawJSON: (this: void, text: string) => Json };

/** Parses without rounding. Throws SyntaxError like JSON.parse. */
export function parseJson(text: string): Json {
  // The reviver makes parsing several times slower, and only a run of sixteen digits can be out of range.
  if (!/\d{16}/.test(text)) return parseWithSource(text);
  return parseWithSource(text, (_key, value, { source }) =>
    typeof value === "number" && !Number.isSafeInteger(value) && source !== undefined && /^-?\d+$/.test(source)
      ? BigInt(source)
      : value,
  );
}

/** The inverse of {@link parseJson}: compact JSON in which a bigint is an integer. */
export function stringifyJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => (typeof item === "bigint" ? rawJson(item.toString()) : item));
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
