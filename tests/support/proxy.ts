import { createServer, request as forward, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * What happens to a call instead of the usual: an answer that never came from the server, a connection cut before it
 * was heard (`cut`), or one whose answer is lost after the server has done its work (`lose`).
 */
export type Fault =
  { readonly status: number; readonly body?: unknown; readonly headers?: Record<string, string> } | "cut" | "lose";

/** Stands before a server and lets a test see its calls and go wrong with some of them. */
export class Proxy {
  uri = "";
  /** Every call as "METHOD /path?query", with its body. */
  readonly calls: { readonly call: string; readonly body: string }[] = [];
  /** The most calls that were open at one time. */
  mostAtOnce = 0;
  #open = 0;
  fault: (call: string, body: string) => Fault | undefined = () => undefined;
  readonly #target: string;
  readonly #server = createServer((request, response) => {
    this.mostAtOnce = Math.max(this.mostAtOnce, ++this.#open);
    response.on("close", () => this.#open--);
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => this.#handle(request, response, Buffer.concat(chunks)));
  });

  constructor(target: string) {
    this.#target = target;
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    this.uri = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Calls whose method and path match. */
  count(pattern: RegExp): number {
    return this.calls.filter(({ call }) => pattern.test(call)).length;
  }

  /** Forgets calls and faults. */
  reset(): void {
    this.calls.length = 0;
    this.mostAtOnce = 0;
    this.fault = () => undefined;
  }

  #handle(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
    const call = `${request.method} ${request.url}`;
    this.calls.push({ call, body: body.toString() });
    const fault = this.fault(call, body.toString());
    if (fault === "cut") {
      request.socket.destroy();
      return;
    }
    if (typeof fault === "object") {
      const text = fault.body === undefined ? "" : JSON.stringify(fault.body);
      response.writeHead(fault.status, { "content-type": "application/json", ...fault.headers }).end(text);
      return;
    }
    const { method, headers } = request;
    const onward = forward(new URL(request.url!, this.#target), { method: method!, headers }, (answer) => {
      if (fault === "lose") {
        answer.resume().on("end", () => request.socket.destroy());
        return;
      }
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    onward.on("error", () => request.socket.destroy());
    onward.end(body);
  }
}

/** An error as Lakekeeper words it. */
export function refusal(status: number, type: string, message = type): Fault {
  return { status, body: { error: { message, type, code: status, stack: [] } } };
}
