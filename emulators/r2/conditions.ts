import type { IncomingHttpHeaders } from "node:http";
import { S3Error } from "./errors.ts";
import type { StoredObject } from "./store.ts";

/** Where an operation's conditional headers are found: R2 has them under three families of names. */
export type ConditionPrefix = "" | "x-amz-copy-source-" | "cf-copy-destination-";

export type Verdict = "holds" | "failed" | "not-modified";

/**
 * What the conditional headers say about an object as it is now (undefined: there is none).
 * "not-modified" is a failure of If-None-Match or If-Modified-Since, which a read answers with 304.
 */
export function evaluate(
  headers: IncomingHttpHeaders,
  object: Pick<StoredObject, "etag" | "modified"> | undefined,
  prefix: ConditionPrefix = "",
): Verdict {
  const header = (name: string): string | undefined => headers[`${prefix}${name}`] as string | undefined;
  const matches = (list: string): boolean => {
    if (object === undefined) return false;
    return list.trim() === "*" || list.split(",").some((etag) => unquote(etag.trim()) === object.etag);
  };
  // Dates in headers have no milliseconds.
  const modified = object === undefined ? undefined : Math.floor(object.modified / 1000) * 1000;

  const ifMatch = header("if-match");
  const ifUnmodifiedSince = header("if-unmodified-since");
  if (ifMatch !== undefined) {
    if (!matches(ifMatch)) return "failed";
  } else if (ifUnmodifiedSince !== undefined && modified !== undefined && modified > parseDate(ifUnmodifiedSince)) {
    return "failed";
  }
  const ifNoneMatch = header("if-none-match");
  const ifModifiedSince = header("if-modified-since");
  if (ifNoneMatch !== undefined) {
    if (matches(ifNoneMatch)) return "not-modified";
  } else if (ifModifiedSince !== undefined && modified !== undefined && modified <= parseDate(ifModifiedSince)) {
    return "not-modified";
  }
  return "holds";
}

/** @throws S3Error PreconditionFailed unless the conditions hold */
export function requireConditions(
  headers: IncomingHttpHeaders,
  object: Pick<StoredObject, "etag" | "modified"> | undefined,
  prefix: ConditionPrefix = "",
): void {
  if (evaluate(headers, object, prefix) !== "holds") throw new S3Error("PreconditionFailed");
}

function unquote(etag: string): string {
  return etag.replace(/^(?:W\/)?"(.*)"$/, "$1");
}

function parseDate(text: string): number {
  const date = Date.parse(text);
  if (Number.isNaN(date)) throw new S3Error("InvalidArgument", `"${text}" is no date.`);
  return date;
}
