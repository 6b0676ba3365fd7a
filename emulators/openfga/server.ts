import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Faults, type FailureOf } from "../faults.ts";
import { openRequestLog, type RequestNotes } from "../requestLog.ts";
import { answer, type ApiAnswer } from "./api.ts";
import { invalid, OpenFgaError } from "./errors.ts";
import { Stores } from "./store.ts";

const { createServer } = process.getBuiltinModule("node:http");

export interface OpenFgaOptions {
  /** Folder where stores, models and tuples are kept. */
  readonly directory: string;
  /** Loopback port; 0 takes a free one. */
  readonly port?: number;
  /** Preshared keys, one of which each request has to bring; without any there is no authentication. */
  readonly keys?: readonly string[];
  /** A file that gets one JSON line for each request. */
  readonly requestLog?: string;
  /** How the server is to misbehave. */
  readonly faults?: Faults;
}

export interface OpenFga {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

const longestBody = 512 * 1024;

/** An OpenFGA on the loopback interface, with its HTTP API (the real one has a gRPC API beside it, on another port). */
export async function startOpenFga(options: OpenFgaOptions): Promise<OpenFga> {
  const { directory, port = 0, keys = [], requestLog, faults = new Faults() } = options;
  const log = requestLog === undefined ? undefined : openRequestLog(requestLog);
  const stores = new Stores(directory);
  const server = createServer((request, response) => {
    const notes: RequestNotes = {};
    log?.follow(request, response, notes);
    faults.apply(request, response, failureOf, () => {
      respond(stores, keys, request)
        .catch((error: unknown) => refusal(error, notes))
        .then((result) => send(response, result))
        .catch(() => response.destroy());
    });
  });
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, "127.0.0.1", resolve);
    });
  } catch (error) {
    stores.close();
    throw error;
  }
  const bound = (server.address() as AddressInfo).port;
  return {
    url: `http://127.0.0.1:${bound}`,
    port: bound,
    async close() {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      await log?.close();
      stores.close();
    },
  };
}

const failureOf: FailureOf = (status) => ({
  type: "application/json",
  body: JSON.stringify({ code: "internal_error", message: `The stand-in was told to fail with ${status}.` }),
});

async function respond(stores: Stores, keys: readonly string[], request: IncomingMessage): Promise<ApiAnswer> {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
  const method = request.method ?? "GET";
  if (pathname === "/healthz" && method === "GET") return { status: 200, body: { status: "SERVING" } };
  authenticate(keys, request.headers.authorization);
  return answer(stores, { method, path: pathname, query: searchParams, body: await readBody(request) });
}

function authenticate(keys: readonly string[], header = ""): void {
  if (keys.length === 0) return;
  const [, key] = /^Bearer (.+)$/i.exec(header) ?? [];
  if (key === undefined) throw new OpenFgaError(401, "bearer_token_missing", "missing bearer token");
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  if (!keys.some((known) => timingSafeEqual(digest(known), digest(key))))
    throw new OpenFgaError(401, "unauthenticated", "unauthenticated");
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > longestBody) throw new OpenFgaError(413, "exceeded_entity_limit", "The request body is too large.");
    chunks.push(chunk);
  }
  if (size === 0) return undefined;
  try {
    return JSON.parse(Buffer.concat(chunks).toString()) as unknown;
  } catch (error) {
    throw invalid((error as Error).message);
  }
}

function refusal(error: unknown, notes: RequestNotes): ApiAnswer {
  const known =
    error instanceof OpenFgaError ? error : new OpenFgaError(500, "internal_error", "Internal Server Error");
  if (known !== error) process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  notes.error = known.code;
  return { status: known.status, body: { code: known.code, message: known.message } };
}

function send(response: ServerResponse, { status, body }: ApiAnswer): void {
  const text = body === undefined ? "" : JSON.stringify(body);
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
  response.end(text);
}
