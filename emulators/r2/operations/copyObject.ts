import { createHash } from "node:crypto";
import { isoDate, quoted, sendXml } from "../answer.ts";
import type { Blob } from "../blobs.ts";
import { requireConditions } from "../conditions.ts";
import type { Content } from "../blobs.ts";
import { S3Error } from "../errors.ts";
import { keptHeaders } from "../objectHeaders.ts";
import type { Call, Operation } from "../operation.ts";
import { parseRange } from "../range.ts";
import type { StoredObject } from "../store.ts";
import { findUpload, partNumber } from "./multipart.ts";

export const copyObject: Operation = {
  name: "CopyObject",
  method: "PUT",
  resource: "object",
  header: "x-amz-copy-source",
  access: "object-write",
  action: "s3:PutObject",
  async handle(call) {
    const { store, bucket, key, headers, response, now } = call;
    store.requireBucket(bucket);
    const source = findSource(call);
    const object: StoredObject = { ...source, key, modified: now, headers: copiedHeaders(call, source), blobs: [] };
    // Blobs are copied rather than shared: each belongs to exactly one object, which may delete it.
    object.blobs = await copyBlobs(call, source);
    await store.put(bucket, object, (existing) => requireConditions(headers, existing, "cf-copy-destination-"));
    sendXml(response, "CopyObjectResult", { ETag: quoted(object.etag), LastModified: isoDate(now) });
  },
};

export const uploadPartCopy: Operation = {
  name: "UploadPartCopy",
  method: "PUT",
  resource: "object",
  subresource: ["partNumber", "uploadId"],
  header: "x-amz-copy-source",
  access: "object-write",
  action: "s3:PutObject",
  async handle(call) {
    const { store, uploads, headers, response, now } = call;
    const upload = findUpload(call);
    const number = partNumber(call);
    const source = findSource(call);
    const { start, end } = parseRange(headers["x-amz-copy-source-range"]?.toString(), source.size);
    const md5 = createHash("md5");
    const blob = await store.blobs.write(tee(await store.blobs.read(source.blobs, start, end), md5));
    const etag = md5.digest("hex");
    await uploads.putPart(upload, { number, size: blob.size, etag, modified: now, checksum: undefined, blob: blob.id });
    sendXml(response, "CopyPartResult", { ETag: quoted(etag), LastModified: isoDate(now) });
  },
};

/**
 * The object that `x-amz-copy-source` names, if the sender may read it and the conditions on it hold.
 *
 * @throws S3Error
 */
function findSource({ store, headers, authorize }: Call): StoredObject {
  const path = decodeURIComponent(String(headers["x-amz-copy-source"])).replace(/^\//, "");
  const slash = path.indexOf("/");
  if (slash < 1 || slash === path.length - 1)
    throw new S3Error("InvalidArgument", "The copy source must be bucket/key.");
  const [bucket, key] = [path.slice(0, slash), path.slice(slash + 1)];
  authorize({ action: "s3:GetObject", access: "object-read", bucket, key });
  store.requireBucket(bucket);
  const source = store.get(bucket, key);
  requireConditions(headers, source, "x-amz-copy-source-");
  return source;
}

async function copyBlobs({ store }: Call, source: StoredObject): Promise<Blob[]> {
  const copies: Blob[] = [];
  try {
    for (const blob of source.blobs) copies.push(await store.blobs.copy(blob));
  } catch (error) {
    await store.blobs.remove(copies);
    // Deleted or overwritten since it was looked up.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") throw new S3Error("NoSuchKey");
    throw error;
  }
  return copies;
}

/** `MERGE` is R2's own: the source's metadata with those of the request over it. */
function copiedHeaders({ headers }: Call, source: StoredObject): Record<string, string> {
  const directive = headers["x-amz-metadata-directive"] ?? "COPY";
  switch (directive) {
    case "COPY":
      return source.headers;
    case "REPLACE":
      return keptHeaders(headers);
    case "MERGE":
      return { ...source.headers, ...keptHeaders(headers) };
    default:
      throw new S3Error("InvalidArgument", `Unknown metadata directive ${String(directive)}.`);
  }
}

async function* tee(content: Content, hash: { update(chunk: Buffer): unknown }): AsyncGenerator<Buffer> {
  for await (const chunk of content) {
    hash.update(chunk);
    yield chunk;
  }
}
