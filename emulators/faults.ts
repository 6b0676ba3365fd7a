import type { IncomingMessage, ServerResponse } from "node:http";
import { parseFault, type Fault } from "./faultRule.ts";

/** The answer of a service that fails: what it says with this status, in its own form, to this request. */
export type FailureOf = (status: number, request: IncomingMessage) => { type: string; body: string };

/** Set on every answer that a fault has touched, with its rule, so that nobody takes it for the stand-in's own. */
export const faultHeader = "x-stand-in-fault";

/**
 * The faults that a stand-in has been told to have. A request gets the first one that is due; those after it neither
 * act on this request nor count it.
 */
export class Faults {
  #rules: { fault: Fault; matched: number; acted: number }[] = [];

  /** @throws UserError for a rule that cannot be understood */
  constructor(rules: readonly string[] = []) {
    for (const rule of rules) this.add(rule);
  }

  /** One rule on each line, as in an environment variable. */
  static fromLines(text = ""): Faults {
    return new Faults(text.split("\n").filter((line) => line.trim() !== ""));
  }

  add(rule: string): void {
    this.#rules.push({ fault: parseFault(rule), matched: 0, acted: 0 });
  }

  clear(): void {
    this.#rules = [];
  }

  /** Lets `serve` answer the request, or spoils that with the fault that is due. */
  apply(request: IncomingMessage, response: ServerResponse, failureOf: FailureOf, serve: () => void): void {
    const fault = this.#due(request);
    if (fault === undefined) return serve();
    response.setHeader(faultHeader, fault.name);
    const strike = (otherwise: () => void): void => {
      if (response.destroyed) return;
      const timer = setTimeout(() => {
        if (fault.outcome === undefined) otherwise();
        else fail(fault.outcome, request, response, failureOf);
      }, fault.delayMilliseconds);
      response.once("close", () => clearTimeout(timer));
    };
    if (fault.when === "before") return strike(serve);
    if (fault.outcome !== undefined) discardAnswer(response);
    onEnd(response, strike);
    serve();
  }

  #due(request: IncomingMessage): Fault | undefined {
    return this.#rules.find((rule) => {
      const { fault } = rule;
      if (!fault.matches(request.method ?? "", request.url ?? "/")) return false;
      rule.matched++;
      if (rule.matched % fault.every !== 0 || rule.acted >= fault.first) return false;
      rule.acted++;
      return true;
    })?.fault;
  }
}

function fail(
  outcome: NonNullable<Fault["outcome"]>,
  request: IncomingMessage,
  response: ServerResponse,
  failureOf: FailureOf,
): void {
  if (outcome === "reset") {
    request.socket.resetAndDestroy();
    return;
  }
  const usual = failureOf(outcome.status, request);
  const body = outcome.body ?? usual.body;
  response.writeHead(outcome.status, { "content-type": usual.type, "content-length": Buffer.byteLength(body) });
  response.end(request.method === "HEAD" ? undefined : body);
  // A client that is still sending would lose the answer to a reset connection.
  request.resume();
}

/** Until the answer ends, nothing of it is sent: neither status nor headers nor body. */
function discardAnswer(response: ServerResponse): void {
  response.writeHead = () => response;
  response.write = () => true;
}

/** Has `then` decide about the end of the answer, in place of whoever answers. It is given what would have been done. */
function onEnd(response: ServerResponse, then: (end: () => void) => void): void {
  response.end = (...args: unknown[]) => {
    for (const name of ["writeHead", "write", "end"]) Reflect.deleteProperty(response, name);
    then(response.end.bind(response, ...(args as [])));
    return response;
  };
}
