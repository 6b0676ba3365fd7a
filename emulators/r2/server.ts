import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Faults } from "../faults.ts";
import { openRequestLog, type RequestNotes } from "../requestLog.ts";
import { AccountTokens, type AccountToken } from "./accountTokens.ts";
import { s3ErrorXml } from "./answer.ts";
import { handleCloudflare } from "./cloudflare.ts";
import { S3Error } from "./errors.ts";
import { failureOf } from "./failures.ts";
import { requireBucketName } from "./operations/buckets.ts";
import { NotModified } from "./operations/getObject.ts";
import { handleS3, type S3Service } from "./s3.ts";
import { Store } from "./store.ts";
import { handleSts } from "./sts.ts";
import { Uploads } from "./uploads.ts";

// Not imported: the module object that an import makes loads a WebSocket client too, at the price of 10 MB of memory.
const { createServer } = process.getBuiltinModule("node:http");

export interface R2Options {
  /** 0 or absent: a free one. */
  port?: number;
  /** Where buckets and objects are kept; made when absent. */
  directory: string;
  accountId: string;
  /** The account's API tokens for R2. */
  tokens: readonly AccountToken[];
  /** Buckets to create when they are absent. */
  buckets?: readonly string[];
  /** Accept bodies signed chunk by chunk (STREAMING-AWS4-HMAC-SHA256-PAYLOAD), which R2 refuses. */
  signedChunks?: boolean;
  /** A file that gets one JSON line for each request. */
  requestLog?: string;
  /** How the account is to misbehave. */
  faults?: Faults;
  /** The time in milliseconds since 1970, for tests. */
  now?: () => number;
}

/** A running emulator. */
export interface R2 {
  /** E.g. `http://127.0.0.1:9000`, without a slash at the end: S3, STS and, below `/client/v4`, Cloudflare's API. */
  url: string;
  port: number;
  /** Adds an API token to the account, as a rotation of credentials does. */
  addToken(token: AccountToken): void;
  /** Revokes an API token, and with it every credential derived from it. */
  revokeToken(id: string): void;
  close(): Promise<void>;
}

/** Starts an R2 account on loopback. */
export async function startR2(options: R2Options): Promise<R2> {
  const now = options.now ?? Date.now;
  const store = await Store.open(options.directory);
  const tokens = new AccountTokens(store.database, options.tokens);
  for (const bucket of options.buckets ?? []) {
    requireBucketName(bucket);
    store.createBucket(bucket, now());
  }
  const service: S3Service = {
    account: { id: options.accountId, tokens },
    store,
    uploads: new Uploads(store),
    signedChunks: options.signedChunks ?? false,
  };
  const faults = options.faults ?? new Faults();
  const log = options.requestLog === undefined ? undefined : openRequestLog(options.requestLog);

  const server = createServer((request, response) => {
    const notes: RequestNotes = {};
    response.setHeader("x-amz-request-id", randomBytes(8).toString("hex"));
    response.setHeader("server", "r2-emulator");
    log?.follow(request, response, notes);
    faults.apply(request, response, failureOf, () => {
      dispatch(service, request, response, now(), notes).catch((error: unknown) =>
        refuse(request, response, error, notes),
      );
    });
  });
  // Clients keep connections in pools for longer than Node's five seconds.
  server.keepAliveTimeout = 75_000;
  server.listen(options.port ?? 0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    addToken: (token) => tokens.add(token),
    revokeToken: (id) => tokens.revoke(id),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
      await log?.close();
      store.close();
    },
  };
}

async function dispatch(
  service: S3Service,
  request: IncomingMessage,
  response: ServerResponse,
  now: number,
  notes: RequestNotes,
): Promise<void> {
  const path = request.url?.split("?")[0] ?? "/";
  if (path === "/-/health") {
    response.writeHead(200, { "content-type": "text/plain" }).end("ok\n");
  } else if (path.startsWith("/client/v4/")) {
    await handleCloudflare(request, response, service.account, service.store, now, notes);
  } else if (path === "/" && request.method === "POST") {
    await handleSts(request, response, service.account, now, notes);
  } else {
    await handleS3(service, request, response, now, notes);
  }
}

function refuse(request: IncomingMessage, response: ServerResponse, error: unknown, notes: RequestNotes): void {
  if (error instanceof NotModified) {
    response.writeHead(304, error.headers).end();
    return;
  }
  if (response.headersSent || response.destroyed || (request.destroyed && !request.complete)) {
    // The client has gone, or has had half an answer: cutting the connection is the only way to tell it.
    response.destroy();
    return;
  }
  if (!(error instanceof S3Error)) console.error(error);
  const refusal = error instanceof S3Error ? error : new S3Error("InternalError");
  notes.error = refusal.code;
  const body = s3ErrorXml(refusal.code, refusal.message);
  response.writeHead(refusal.status, {
    ...refusal.headers,
    "content-type": "application/xml",
    "content-length": Buffer.byteLength(body),
  });
  response.end(request.method === "HEAD" ? undefined : body);
  // Let the client finish sending, or it may lose the answer to a reset connection.
  request.resume();
}
