import type { IncomingHttpHeaders } from "node:http";
import { httpDate, quoted } from "./answer.ts";
import { checksumHeader } from "./checksums.ts";
import { S3Error } from "./errors.ts";
import type { StoredObject } from "./store.ts";

const systemMetadata = [
  "cache-control",
  "content-disposition",
  "content-encoding",
  "content-language",
  "content-type",
  "expires",
  "x-amz-storage-class",
];

/**
 * The headers of an upload that are kept with the object and given back with it.
 *
 * @throws S3Error MetadataTooLarge beyond 8,192 bytes of `x-amz-meta-*`, InvalidArgument for an unknown storage class
 */
export function keptHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const kept: Record<string, string> = {};
  let metadataSize = 0;
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== "string") continue;
    if (systemMetadata.includes(name)) kept[name] = value;
    if (name.startsWith("x-amz-meta-")) {
      kept[name] = value;
      metadataSize += name.length - "x-amz-meta-".length + Buffer.byteLength(value);
    }
  }
  if (metadataSize > 8192) throw new S3Error("MetadataTooLarge");
  const storageClass = kept["x-amz-storage-class"] ?? "STANDARD";
  if (storageClass !== "STANDARD" && storageClass !== "STANDARD_IA") {
    throw new S3Error("InvalidArgument", `The storage class '${storageClass}' is not valid.`);
  }
  if (storageClass === "STANDARD") delete kept["x-amz-storage-class"];
  dropTransferCoding(kept);
  return kept;
}

/** The headers that describe an object in the answers to GetObject and HeadObject. */
export function describingHeaders(object: StoredObject): Record<string, string> {
  return {
    "content-type": "application/octet-stream",
    ...object.headers,
    etag: quoted(object.etag),
    "last-modified": httpDate(object.modified),
    "accept-ranges": "bytes",
  };
}

export function checksumHeaders({ checksum }: Pick<StoredObject, "checksum">): Record<string, string> {
  return checksum === undefined ? {} : { [checksumHeader(checksum.algorithm)]: checksum.value };
}

/** `aws-chunked` tells how the body travelled, not what the object is. */
function dropTransferCoding(kept: Record<string, string>): void {
  const codings = (kept["content-encoding"] ?? "").split(",").map((coding) => coding.trim());
  const rest = codings.filter((coding) => coding !== "aws-chunked" && coding !== "");
  if (rest.length > 0) kept["content-encoding"] = rest.join(",");
  else delete kept["content-encoding"];
}
