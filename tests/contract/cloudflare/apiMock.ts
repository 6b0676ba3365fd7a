import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { RecordedRequest } from "./recording.ts";

export type SeenRequest = Pick<RecordedRequest, "method" | "path" | "query" | "headers" | "body">;

/** Answers what a recording has, once, and keeps what it was asked. */
export class ApiMock {
  readonly seen: SeenRequest[] = [];
  /** Whether JSON is sent with spaces, as some recordings were made. */
  isSpaced = false;
  readonly #server: Server;
  #answers: RecordedRequest[] = [];

  private constructor() {
    this.#server = createServer((request, response) => {
      void this.#see(request).then((seen) => {
        const index = this.#answers.findIndex(
          ({ method, path, query }) => method === seen.method && path === seen.path && query === seen.query,
        );
        const [answer] = index < 0 ? [] : this.#answers.splice(index, 1);
        const { "Content-Type": type = "application/json", ...headers } = answer?.response_headers ?? {};
        for (const [name, value] of Object.entries(headers)) response.setHeader(name, value.split(" ")[0] ?? "");
        response.writeHead(answer?.response_status ?? 418, { "content-type": type });
        response.end(this.#textOf(answer?.response_body));
      });
    });
  }

  static async start(): Promise<ApiMock> {
    const mock = new ApiMock();
    await new Promise<void>((listening) => mock.#server.listen(0, "127.0.0.1", listening));
    return mock;
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  play(answers: readonly RecordedRequest[], isSpaced: boolean): void {
    this.#answers = [...answers];
    this.isSpaced = isSpaced;
    this.seen.length = 0;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #textOf(body: unknown): string {
    if (typeof body === "string") return body;
    return this.isSpaced ? spaced(body) : JSON.stringify(body);
  }

  async #see(request: IncomingMessage): Promise<SeenRequest> {
    const { method = "", url = "/", rawHeaders } = request;
    const { pathname, search } = new URL(url, "http://localhost");
    const pairs = rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ""]] : []));
    const seen = {
      method,
      path: pathname,
      query: search.slice(1),
      headers: Object.fromEntries(pairs) as Record<string, string>,
      body: parsed(await text(request)),
    };
    this.seen.push(seen);
    return seen;
  }
}

function parsed(body: string): unknown {
  if (body === "") return null;
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

/** JSON as Python writes it. */
function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, inner]) => `${JSON.stringify(name)}: ${spaced(inner)}`);
  return `{${members.join(", ")}}`;
}
