import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly url: string;
  readonly query: string;
  readonly variables: Record<string, unknown>;
}

/** What to answer: data, errors in a body of status 200, or a whole answer; `reset` hangs up. */
export type Reply =
  | { readonly data: unknown }
  | { readonly errors: readonly { message: string; extensions?: object }[] }
  | { readonly status: number; readonly body?: string; readonly headers?: Record<string, string> }
  | "reset";

/** A GraphQL endpoint that answers by a script; what is asked is kept. For how the client speaks, not for what Railway does. */
export class ScriptedApi {
  readonly received: Received[] = [];
  readonly operations: string[] = [];
  readonly script: Reply[] = [];
  /** Answers by the operation's name; what it leaves open is answered by the script. */
  answer: (operation: string, variables: Received["variables"]) => Reply | undefined = () => undefined;
  mostInFlight = 0;
  /** Milliseconds before each answer. */
  slowness = 0;
  readonly #server: Server;
  #inFlight = 0;

  private constructor() {
    this.#server = createServer((request, response) => {
      this.mostInFlight = Math.max(this.mostInFlight, ++this.#inFlight);
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const body = JSON.parse(Buffer.concat(chunks).toString()) as {
          query: string;
          variables: Received["variables"];
        };
        this.received.push({ headers: request.headers, url: request.url ?? "", ...body });
        const operation = /\w+ (\w+)/.exec(body.query)?.[1] ?? "";
        this.operations.push(operation);
        const reply = this.answer(operation, body.variables) ??
          this.script.shift() ?? { status: 500, body: "the script has come to its end" };
        setTimeout(() => {
          this.#inFlight--;
          if (reply === "reset") return response.destroy();
          const isWhole = "status" in reply;
          response.writeHead(isWhole ? reply.status : 200, {
            "content-type": "application/json",
            ...(isWhole ? reply.headers : {}),
          });
          response.end(isWhole ? reply.body : JSON.stringify({ data: null, ...reply }));
        }, this.slowness);
      });
    });
  }

  static async start(): Promise<ScriptedApi> {
    const api = new ScriptedApi();
    await new Promise<void>((resolve) => api.#server.listen(0, "127.0.0.1", resolve));
    return api;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/graphql/v2`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
