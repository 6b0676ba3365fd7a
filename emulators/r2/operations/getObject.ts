import { pipeline } from "node:stream/promises";
import { evaluate } from "../conditions.ts";
import { S3Error } from "../errors.ts";
import { checksumHeaders, describingHeaders } from "../objectHeaders.ts";
import type { Call, Operation } from "../operation.ts";
import { parseRange, type ByteRange } from "../range.ts";
import type { StoredObject } from "../store.ts";

export const getObject: Operation = {
  name: "GetObject",
  method: "GET",
  resource: "object",
  access: "object-read",
  action: "s3:GetObject",
  async handle(call) {
    const { store, bucket, key, response } = call;
    store.requireBucket(bucket);
    const { object, range, content } = await store.read(bucket, key, (object) => {
      requireFresh(call, object);
      return parseRange(call.headers.range, object.size);
    });
    response.writeHead(range.isPartial ? 206 : 200, {
      ...answerHeaders(call, object, range),
      ...(range.isPartial ? { "content-range": `bytes ${range.start}-${range.end}/${object.size}` } : {}),
    });
    if (Array.isArray(content)) response.end(Buffer.concat(content));
    else await pipeline(content, response);
  },
};

export const headObject: Operation = {
  name: "HeadObject",
  method: "HEAD",
  resource: "object",
  access: "object-read",
  action: "s3:GetObject",
  handle(call) {
    const { store, bucket, key, response } = call;
    store.requireBucket(bucket);
    const object = store.get(bucket, key);
    requireFresh(call, object);
    // R2 documents that a range has no effect here.
    response.writeHead(200, answerHeaders(call, object, parseRange(undefined, object.size))).end();
  },
};

/** Refuses with 412, or ends the exchange with 304, when the conditional headers say so. */
function requireFresh({ headers }: Call, object: StoredObject): void {
  const verdict = evaluate(headers, object);
  if (verdict === "failed") throw new S3Error("PreconditionFailed");
  if (verdict === "not-modified") throw new NotModified(object);
}

/** Not an error to the client, but like one it ends the operation early. */
export class NotModified extends Error {
  override readonly name = "NotModified";
  readonly headers: Record<string, string>;

  constructor(object: StoredObject) {
    super("Not Modified");
    const { etag, "last-modified": lastModified } = describingHeaders(object);
    this.headers = { etag: etag!, "last-modified": lastModified! };
  }
}

/** `response-content-type` in the query and its like replace what is stored. */
const overrides = [
  "cache-control",
  "content-disposition",
  "content-encoding",
  "content-language",
  "content-type",
  "expires",
];

function answerHeaders({ headers, query }: Call, object: StoredObject, range: ByteRange): Record<string, string> {
  const answer = describingHeaders(object);
  for (const name of overrides) {
    const value = query.get(`response-${name}`);
    if (value !== null) answer[name] = value;
  }
  const wantsChecksum = headers["x-amz-checksum-mode"]?.toString().toUpperCase() === "ENABLED";
  return {
    ...answer,
    ...(wantsChecksum && !range.isPartial ? checksumHeaders(object) : {}),
    "content-length": String(range.end - range.start + 1),
  };
}
