import type { IncomingMessage, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import type { Workers } from "./workers.ts";

/** Where a Worker is served on loopback: `/-/workers/<name>/<path>` stands for `https://<name>.<subdomain>.workers.dev/<path>`. */
const prefix = /^\/-\/workers\/([^/?]+)(\/[^]*)?$/;

/** The Worker that a request is for. */
export interface Addressed {
  readonly name: string;
  readonly path: string;
  /** Of one that is asked for by a domain of its own. */
  readonly hostname?: string;
}

/** By its path or by its Host header. */
export function workerOf(request: IncomingMessage, workers: Workers): Addressed | undefined {
  const { url = "/", headers } = request;
  const [, named, path = "/"] = prefix.exec(url) ?? [];
  if (named !== undefined) return { name: named, path };
  const host = headers.host?.split(":")[0] ?? "";
  const domain = `.${workers.subdomain}.workers.dev`;
  if (host.endsWith(domain)) return { name: host.slice(0, -domain.length), path: url };
  // Whoever talks S3 names no domain of a zone.
  const script = /\.[a-z]+$/.test(host) ? workers.attachedTo(host) : undefined;
  return script && { name: script.name, path: url, hostname: host };
}

export async function serveWorker(
  request: IncomingMessage,
  response: ServerResponse,
  workers: Workers,
  { name, path, hostname }: Addressed,
): Promise<void> {
  const headers = Object.entries(request.headers).map(([field, value]): [string, string] => [field, String(value)]);
  const url = `https://${hostname ?? `${name}.${workers.subdomain}.workers.dev`}${path}`;
  try {
    const body = await buffer(request);
    const answer = await workers.fetch(name, { method: request.method ?? "GET", url, headers, body }, hostname);
    if (answer === undefined) {
      response.writeHead(404, { "content-type": "text/plain" }).end("error code: 1042\n");
      return;
    }
    const given = answer.headers.filter(([field]) => !["content-length", "transfer-encoding"].includes(field));
    response.writeHead(answer.status, { ...Object.fromEntries(given), "content-length": answer.body.length });
    response.end(request.method === "HEAD" ? undefined : answer.body);
  } catch (error) {
    response.writeHead(500, { "content-type": "text/plain" }).end(`error code: 1101\n${(error as Error).message}\n`);
  }
}
