import type { HttpError } from "../clients/http.ts";

/** Why a table could not be registered, with what to do about it. */
export function explainRegistration(error: HttpError, pointer: string): string {
  const remedy = REMEDIES[error.type ?? ""];
  const said = `${error.status} ${error.type ?? ""} - ${error.said}`;
  return remedy === undefined ? error.message : `${remedy(error, pointer)} (Lakekeeper: ${said})`;
}

const REMEDIES: Record<string, (error: HttpError, pointer: string) => string> = {
  FailedToSetProperties: (error) =>
    `it sets ${/'([^']+)'/.exec(error.said)?.[1] ?? "a property"}, which would put files where Lakekeeper cannot give access to them. ` +
    "Remove the property with the writer of today's catalog (in PyIceberg: table.transaction().remove_properties(...)), move what it has written there into the table's location, and run this again with the new pointer",
  LocationAlreadyTaken: () =>
    "its location is that of another table or view, lies inside it or contains it. Lakekeeper takes one table for one location: unregister the other one first",
  InvalidLocation: () =>
    "its metadata file or the location inside it is not strictly below the warehouse's location. Register it in a warehouse that covers it, or move the table",
  NotFound: (_error, pointer) =>
    `the metadata file ${pointer} is not in the bucket. Read the current pointer from today's catalog; if that is the one, the file has been deleted`,
  Deserialization: (_error, pointer) => `${pointer} is no Iceberg table metadata. Check what today's catalog points at`,
  FileDecompression: (_error, pointer) =>
    `${pointer} is not gzipped, although its name says so. Lakekeeper goes by the ending .gz.metadata.json`,
  NoSuchNamespaceException: () => "its namespace is not in the warehouse. Add it to the namespaces",
  ShortTermCredentialError: () =>
    "Lakekeeper could not mint temporary credentials for it. Check the storage credential of the warehouse, and Cloudflare's limit of calls; then run this again",
  PermissionDenied: (_error, pointer) =>
    `Lakekeeper may not read ${pointer}. Check the storage credential of the warehouse`,
};
