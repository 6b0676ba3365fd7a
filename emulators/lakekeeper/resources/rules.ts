import { CatalogError } from "../http/errors.ts";
import type { Json } from "../http/json.ts";
import { unsupportedProperty } from "../iceberg/metadata.ts";
import { isBelow } from "../storage/location.ts";
import { baseLocation, type StorageProfile } from "../storage/profile.ts";
import type { Warehouse } from "../store/warehouses.ts";

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

/** Throws 400 FormatVersionNotAllowed for a table of a format version that the warehouse does not take. */
export function requireFormatVersion(version: number, { formatVersions }: Pick<Warehouse, "formatVersions">): void {
  if (formatVersions.includes(version)) return;
  const allowed = formatVersions.join(", ");
  const message = `Table format version 'v${version}' is not allowed in this warehouse. Allowed versions: [${allowed}]`;
  throw new CatalogError(400, "FormatVersionNotAllowed", message);
}
