import type * as http from "node:http";

// node:http and not fetch: it costs a third of the time and less memory, and fetch gives up its connection after a HEAD.

export interface HttpAnswer {
  readonly status: number;
  /** What the status line says after the number. */
  readonly reason: string;
  readonly body: Buffer;
}

const timeoutMilliseconds = 60_000;

interface Transport {
  readonly request: typeof http.request;
  readonly agent: http.Agent;
}

const transports = new Map<string, Transport>();

/** For `http:` or `https:`, loaded on first use; its connections stay open for the next request. */
function transportOf(protocol: string): Transport {
  let found = transports.get(protocol);
  if (found === undefined) {
    const { request, Agent } = process.getBuiltinModule(protocol === "https:" ? "node:https" : "node:http");
    found = { request, agent: new Agent({ keepAlive: true }) };
    transports.set(protocol, found);
  }
  return found;
}

/**
 * Sends one request and reads the whole answer, whatever its status. It must be one that may be sent twice: a
 * connection that the other side was just closing is tried once more. Throws when there is no answer.
 */
export async function send(
  method: string,
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Buffer | string = "",
): Promise<HttpAnswer> {
  const { protocol, hostname, port, pathname, search } = new URL(url);
  const length = Buffer.byteLength(body);
  const sized = length > 0 || method === "PUT" || method === "POST";
  const options: http.RequestOptions = {
    method,
    hostname: hostname.replace(/^\[|\]$/g, ""),
    port,
    path: pathname + search,
    headers: sized ? { ...headers, "content-length": length } : headers,
  };
  for (;;) {
    const { request, agent } = transportOf(protocol);
    const outgoing = request({ ...options, agent });
    try {
      return await new Promise<HttpAnswer>((resolve, reject) => {
        outgoing.setTimeout(timeoutMilliseconds, () => outgoing.destroy(new Error("no answer in time")));
        outgoing.on("error", reject).on("response", (incoming) => resolve(read(incoming)));
        outgoing.end(body);
      });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (!outgoing.reusedSocket || (code !== "ECONNRESET" && code !== "EPIPE")) throw error;
    }
  }
}

function read(incoming: http.IncomingMessage): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    incoming
      .on("data", (chunk: Buffer) => chunks.push(chunk))
      .on("error", reject)
      .on("end", () =>
        resolve({
          status: incoming.statusCode ?? 0,
          reason: incoming.statusMessage ?? "",
          body: Buffer.concat(chunks),
        }),
      );
  });
}
