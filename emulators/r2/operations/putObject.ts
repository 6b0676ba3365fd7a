import { quoted, sendEmpty } from "../answer.ts";
import { requireConditions } from "../conditions.ts";
import { checksumHeaders, keptHeaders } from "../objectHeaders.ts";
import type { Call, Operation } from "../operation.ts";
import { requireBucketName } from "./buckets.ts";

export const putObject: Operation = {
  name: "PutObject",
  method: "PUT",
  resource: "object",
  access: "object-write",
  action: "s3:PutObject",
  readsBody: true,
  async handle(call) {
    const { store, bucket, key, headers, body, response, now } = call;
    createBucketIfAsked(call);
    // Before the body, so that nobody uploads for nothing; again when it is stored, for what happened meanwhile.
    store.requireBucket(bucket);
    requireConditions(headers, store.find(bucket, key));
    const kept = keptHeaders(headers);
    const blob = await store.blobs.write(body.content);
    const etag = body.md5();
    const checksum = body.checksum();
    await store.put(
      bucket,
      { key, size: blob.size, etag, modified: now, headers: kept, checksum, blobs: [blob] },
      (existing) => requireConditions(headers, existing),
    );
    sendEmpty(response, 200, { etag: quoted(etag), ...checksumHeaders({ checksum }) });
  },
};

/** R2's own header for uploads into a bucket that may not be there yet. */
export function createBucketIfAsked({ store, bucket, headers, now, authorize }: Call): void {
  if (headers["cf-create-bucket-if-missing"] !== "true" || store.hasBucket(bucket)) return;
  authorize({ action: "s3:CreateBucket", access: "admin-write", bucket });
  requireBucketName(bucket);
  store.createBucket(bucket, now);
}
