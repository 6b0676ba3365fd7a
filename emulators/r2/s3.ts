import type { IncomingMessage, ServerResponse } from "node:http";
import { authorize, identify } from "./authentication.ts";
import { openBody } from "./body.ts";
import type { CloudflareAccount } from "../cloudflare/account.ts";
import type { RequestNotes } from "../requestLog.ts";
import { matchOperation, refuseUnsupportedHeaders } from "./routes.ts";
import { readSignature, verifySignature } from "./sigv4.ts";
import type { Store } from "./store.ts";
import { parseTarget } from "./target.ts";
import type { Uploads } from "./uploads.ts";
import { S3Error } from "./errors.ts";

export interface S3Service {
  account: CloudflareAccount;
  store: Store;
  uploads: Uploads;
  signedChunks: boolean;
}

/**
 * Answers a request to the S3 API: which operation it is, who sent it, whether they may, then the operation itself.
 *
 * @throws S3Error, NotModified
 */
export async function handleS3(
  { account, store, uploads, signedChunks }: S3Service,
  request: IncomingMessage,
  response: ServerResponse,
  now: number,
  notes: RequestNotes,
): Promise<void> {
  const target = parseTarget(request.url ?? "/");
  const operation = matchOperation(request.method ?? "", target, request.headers);
  notes.operation = operation.name;
  const signature = readSignature(request, target, "s3", now);
  notes.accessKeyId = signature.accessKeyId;
  const identity = identify(account, signature, request, now);
  if (signature.payload === undefined) {
    throw new S3Error("InvalidRequest", "Missing required header for this request: x-amz-content-sha256");
  }
  verifySignature(signature, identity.secret, request, target, signature.payload);
  refuseUnsupportedHeaders(request.headers);

  const { bucket = "", key = "", query } = target;
  const { name, action, access } = operation;
  if (!operation.authorizesItself) {
    const prefix = operation.resource === "bucket" ? (query.get("prefix") ?? "") : undefined;
    authorize(identity, { operation: name, action, access, bucket: target.bucket, key: target.key, prefix });
  }
  const body = openBody(request, signature, identity.secret, signedChunks);
  if (!operation.readsBody) for await (const chunk of body.content) void chunk;
  await operation.handle({
    store,
    uploads,
    bucket,
    key,
    query,
    headers: request.headers,
    body,
    response,
    now,
    authorize: (right) => authorize(identity, { operation: name, ...right }),
  });
}
