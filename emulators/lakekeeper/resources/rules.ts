import { CatalogError } from "../http/errors.ts";
import type { Json } from "../http/json.ts";
import { unsupportedProperty } from "../iceberg/metadata.ts";
import { isBelow } from "../storage/location.ts";
import { baseLocation, type StorageProfile } from "../storage/profile.ts";

/** Throws 400 InvalidLocation unless the place lies strictly inside the warehouse. */
export function requireInside(location: string, profile: StorageProfile): void {
  const base = baseLocation(profile);
  const known = profile["allow-alternative-protocols"] === true ? location.replace(/^s3[an]:/, "s3:") : location;
  if (!isBelow(known, base)) throw outside(location, base);
}

/** What {@link requireInside} throws. */
export function outside(location: string, base: string): CatalogError {
  const message = `Provided location ${location} is not a valid sublocation of the storage profile ${base}.`;
  return new CatalogError(400, "InvalidLocation", message);
}

/** Throws 409 FailedToSetProperties for properties that would scatter the files of a table. */
export function requireSupported(properties: Json | undefined): void {
  const property = unsupportedProperty(properties);
  if (property !== undefined)
    throw new CatalogError(409, "FailedToSetProperties", `Properties contain unsupported property: '${property}'`);
}
