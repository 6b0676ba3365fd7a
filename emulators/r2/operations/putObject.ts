import { quoted, sendEmpty } from "../answer.ts";
import { requireConditions } from "../conditions.ts";
import { checksumHeaders, keptHeaders } from "../objectHeaders.ts";
import type { Operation } from "../operation.ts";
import { requireBucketName } from "./buckets.ts";

export const putObject: Operation = {
  name: "PutObject",
  method: "PUT",
  resource: "object",
  access: "object-write",
  action: "s3:PutObject",
  async handle({ store, bucket, key, headers, body, response, now }) {
    if (headers["cf-create-bucket-if-missing"] === "true") {
      requireBucketName(bucket);
      store.createBucket(bucket, now);
    }
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
