import { CatalogError } from "../http/errors.ts";

/** A place in a bucket: `s3://bucket/key`, without a trailing slash. */
export interface Location {
  readonly scheme: string;
  readonly bucket: string;
  /** Key or key prefix without slashes at its ends; empty for the bucket itself. */
  readonly key: string;
}

export function parseLocation(text: string): Location {
  const match = /^([a-z][a-z0-9+.-]*):\/\/([^/]+)(?:\/(.*))?$/is.exec(text);
  if (match === null)
    throw new CatalogError(
      400,
      "InvalidLocation",
      `Invalid location \`${text}\`. Context: []. Source: relative URL without a base`,
    );
  return { scheme: match[1]!, bucket: match[2]!, key: (match[3] ?? "").replace(/^\/+|\/+$/g, "") };
}

/** True when `inner` lies strictly below `outer`; both without a trailing slash. */
export function isBelow(inner: string, outer: string): boolean {
  return inner.startsWith(`${outer}/`) && inner.length > outer.length + 1;
}

/** The locations above this one inside its bucket, nearest last, including itself. */
export function selfAndAncestors(location: string): string[] {
  const { scheme, bucket, key } = parseLocation(location);
  const steps = key.split("/");
  return steps.map((_, index) => `${scheme}://${bucket}/${steps.slice(0, index + 1).join("/")}`);
}
