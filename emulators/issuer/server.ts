import { readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Faults, type FailureOf } from "../faults.ts";
import { openRequestLog } from "../requestLog.ts";

// Not imported: making the module object of an import loads a WebSocket client too, which takes 10 MB of memory.
const { createServer, STATUS_CODES } = process.getBuiltinModule("node:http");

export interface IssuerOptions {
  /** Folder whose files are published. */
  readonly directory: string;
  /** Loopback port; 0 takes a free one. */
  readonly port?: number;
  /** A file that gets one JSON line for each request. */
  readonly requestLog?: string;
  /** How the issuer is to misbehave. */
  readonly faults?: Faults;
}

export interface Issuer {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

const HEALTH = "/-/health";

/**
 * A static web server for the documents of an OpenID issuer. It answers GET and HEAD for files that exist, on the
 * loopback interface, and reads them anew for each request, so that a new key counts at once.
 */
export async function startIssuer(options: IssuerOptions): Promise<Issuer> {
  const { directory, port = 0, requestLog, faults = new Faults() } = options;
  const log = requestLog === undefined ? undefined : openRequestLog(requestLog);
  const server = createServer((request, response) => {
    log?.follow(request, response);
    faults.apply(request, response, failureOf, () => {
      answer(directory, request, response).catch((error: unknown) => {
        send(response, 500, "text/plain", `cannot read ${request.url}: ${(error as Error).message}\n`);
      });
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
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
    },
  };
}

/** As a web server fails that has nothing to say about it; a body that a fault brings is of the type of the document. */
const failureOf: FailureOf = (status, { url = "/" }) => ({
  type: status === 200 ? contentType(url.split("?", 1)[0]!) : "text/plain",
  body: `${STATUS_CODES[status] ?? "Failure"}\n`,
});

async function answer(directory: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== "GET" && request.method !== "HEAD") {
    response.setHeader("allow", "GET, HEAD");
    return send(response, 405, "text/plain", `${request.method} is not allowed: this issuer only publishes files\n`);
  }
  const path = request.url!.split("?", 1)[0]!;
  if (path === HEALTH) return send(response, 200, "text/plain", "ok\n");
  const file = await readPublished(directory, path);
  if (file === undefined) return send(response, 404, "text/plain", `no file ${path}\n`);
  send(response, 200, contentType(path), file);
}

/** The file at a URL path; only plain names are looked up, so that no path leads out of the folder. */
async function readPublished(directory: string, path: string): Promise<Buffer | undefined> {
  const names = path.slice(1).split("/");
  if (!names.every((name) => /^[\w.-]+$/.test(name) && !/^\.+$/.test(name))) return undefined;
  try {
    return await readFile(join(directory, ...names));
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EISDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

function contentType(path: string): string {
  if (path.endsWith(".json") || path.endsWith("/openid-configuration")) return "application/json";
  return "application/octet-stream";
}

function send(response: ServerResponse, status: number, type: string, body: string | Buffer): void {
  response.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(body) });
  response.end(response.req.method === "HEAD" ? undefined : body);
}
