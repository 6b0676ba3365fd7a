import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { handleCloudflare } from "../cloudflare/api.ts";
import { serveWorker, workerOf } from "../cloudflare/workersDev.ts";
import type { Faults } from "../faults.ts";
import type { RequestLog, RequestNotes } from "../requestLog.ts";
import { s3ErrorXml } from "./answer.ts";
import { S3Error } from "./errors.ts";
import { failureOf } from "./failures.ts";
import { NotModified } from "./operations/getObject.ts";
import { handleS3, type S3Service } from "./s3.ts";
import { handleSts } from "./sts.ts";

// Not imported: the module object that an import makes loads a WebSocket client too, at the price of 10 MB of memory.
const { createServer } = process.getBuiltinModule("node:http");

/** A port on which an account answers: S3 for the buckets of one jurisdiction, STS, Cloudflare's API, Workers. */
export interface Endpoint {
  port: number;
  close(): Promise<void>;
}

export interface EndpointOptions {
  /** 0: a free one. */
  port: number;
  faults: Faults;
  log: RequestLog | undefined;
  /** In milliseconds since 1970. */
  now: () => number;
}

export async function openEndpoint(service: S3Service, { port, faults, log, now }: EndpointOptions): Promise<Endpoint> {
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
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
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
  const worker = workerOf(request, service.account.workers);
  if (path === "/-/health") {
    response.writeHead(200, { "content-type": "text/plain" }).end("ok\n");
  } else if (worker !== undefined) {
    await serveWorker(request, response, service.account.workers, worker);
  } else if (path.startsWith("/client/v4/")) {
    await handleCloudflare(request, response, service.account, now, notes);
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
