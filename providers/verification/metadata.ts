import { isDeepStrictEqual } from "node:util";

type Json = null | boolean | number | bigint | string | Json[] | { [name: string]: Json };

/** Fields that a reader derives when the file, as older writers made it, does not have them. */
const DERIVED = [
  "refs",
  "schemas",
  "current-schema-id",
  "partition-specs",
  "default-spec-id",
  "last-partition-id",
  "sort-orders",
  "default-sort-order-id",
];

/** Fields of format version 1 that Lakekeeper 0.13.3 may leave out: two that repeat what the lists say, and the refs. */
const LEFT_OUT_OF_V1 = ["schema", "partition-spec", "refs"];

/**
 * Compares table metadata as the catalog tells it with the metadata file, and names the top-level fields that say
 * something else. Lakekeeper parses the file and writes it anew, so what it leaves out because it is empty, a default
 * or a repetition is no difference (as seen with Lakekeeper 0.13.3 and files of PyIceberg 0.12).
 *
 * Both sides must have been parsed without rounding: snapshot ids are 64-bit integers.
 */
export function metadataDifferences(catalog: unknown, file: unknown): string[] {
  const told = normalize(catalog as Json) as Record<string, Json>;
  const written = normalize(file as Json) as Record<string, Json>;
  return [...new Set([...Object.keys(told), ...Object.keys(written)])].filter((name) => {
    if (LEFT_OUT_OF_V1.includes(name) && written["format-version"] === 1 && !(name in told)) return false;
    if (DERIVED.includes(name) && !(name in written)) return false;
    return !isDeepStrictEqual(told[name], written[name]);
  });
}

function normalize(value: Json): Json {
  if (Array.isArray(value)) return value.map(normalize);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value)
    .map(([name, inner]) => [name, normalizeField(name, normalize(inner))] as const)
    .filter(([name, inner]) => !isDefault(name, inner));
  return Object.fromEntries(kept);
}

function normalizeField(name: string, value: Json): Json {
  if (typeof value !== "string") return value;
  if (name === "type") return value.replaceAll(" ", ""); // decimal(9, 2) is written decimal(9,2) by some
  if (name === "location") return value.replace(/\/+$/, "");
  return value;
}

function isDefault(name: string, value: Json): boolean {
  if (value === null) return true;
  if (typeof value === "object") return Object.keys(value).length === 0;
  if (name === "current-snapshot-id") return value === -1;
  return (name === "sequence-number" || name === "last-sequence-number") && value === 0;
}
