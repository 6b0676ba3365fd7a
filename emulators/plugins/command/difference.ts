import { isDeepStrictEqual } from "node:util";
import { reveal, type DiffResponse, type Properties, type PropertyDiff } from "../protocol.ts";

/**
 * What differs between two sets of inputs, down to the single item. Only whether there are triggers at all replaces a
 * command: for another trigger the SDK does that itself. Whether something is secret makes no difference.
 */
export function difference(olds: Properties, news: Properties): DiffResponse {
  const detailedDiff: Record<string, PropertyDiff> = {};
  compare("", comparable(olds), comparable(news), detailedDiff);
  const { triggers } = detailedDiff;
  if (triggers !== undefined) triggers.kind = triggers.kind === "DELETE" ? "DELETE_REPLACE" : "ADD_REPLACE";
  const paths = Object.keys(detailedDiff);
  if (paths.length === 0) return { changes: "DIFF_NONE", hasDetailedDiff: true };
  return {
    ...(triggers !== undefined && { replaces: ["triggers"] }),
    changes: "DIFF_SOME",
    diffs: [...new Set(paths.map((path) => /^[^.[]+/.exec(path)![0]))],
    detailedDiff,
    hasDetailedDiff: true,
  };
}

/** A connection is one secret, and of an asset the hash counts. */
function comparable(properties: Properties): Properties {
  const plain = reveal(properties) as Properties;
  const { connection, source } = plain;
  return {
    ...plain,
    ...(connection !== undefined && { connection: JSON.stringify(Object.entries(connection as object).sort()) }),
    ...(source !== undefined && { source: String((source as Properties)["hash"]) }),
  };
}

function compare(path: string, old: unknown, given: unknown, found: Record<string, PropertyDiff>): void {
  if (isDeepStrictEqual(old, given)) return;
  if (Array.isArray(old) && Array.isArray(given)) {
    for (let index = 0; index < Math.max(old.length, given.length); index++) {
      compare(`${path}[${index}]`, old[index], given[index], found);
    }
  } else if (isObject(old) && isObject(given)) {
    for (const name of new Set([...Object.keys(old), ...Object.keys(given)])) {
      compare(path === "" ? name : `${path}.${name}`, old[name], given[name], found);
    }
  } else {
    const kind = given === undefined ? "DELETE" : old === undefined ? undefined : "UPDATE";
    found[path] = kind === undefined ? {} : { kind };
  }
}

function isObject(value: unknown): value is Properties {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
