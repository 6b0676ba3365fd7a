import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from "node:http";

/** Where the requests of a public domain go. */
export interface Target {
  readonly address: string;
  readonly port: number;
}

/**
 * The edge of one public domain, on loopback. Railway's ends TLS; this one has none.
 *
 * @param port 0 for a free one
 * @param target undefined while no deployment is active
 */
export async function openEdge(
  port: number,
  target: () => Target | undefined,
): Promise<{ port: number; server: Server }> {
  const server = createServer((incoming, outgoing) => serve(incoming, outgoing, target()));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, "127.0.0.1", resolve);
  });
  return { port: (server.address() as { port: number }).port, server };
}

function serve(incoming: IncomingMessage, outgoing: ServerResponse, target: Target | undefined): void {
  if (target === undefined) return fail(outgoing);
  const upstream = request({
    host: target.address,
    port: target.port,
    method: incoming.method,
    path: incoming.url,
    headers: {
      ...incoming.headers,
      "x-forwarded-for": "127.0.0.1",
      "x-forwarded-host": incoming.headers.host ?? "",
      "x-forwarded-proto": "http",
    },
  });
  upstream.on("response", (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
    answer.pipe(outgoing);
    answer.on("error", () => outgoing.destroy());
  });
  upstream.on("error", () => {
    if (outgoing.headersSent) outgoing.destroy();
    else fail(outgoing);
  });
  incoming.pipe(upstream);
  outgoing.on("close", () => upstream.destroy());
}

/** What Railway's edge says when nothing answers behind it. */
function fail(outgoing: ServerResponse): void {
  const body = JSON.stringify({ status: "error", code: 502, message: "Application failed to respond" });
  outgoing.writeHead(502, { "content-type": "application/json", "x-railway-fallback": "true" }).end(body);
}
