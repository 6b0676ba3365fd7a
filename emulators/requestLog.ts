import { createWriteStream, openSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { finished } from "node:stream/promises";
import { UserError } from "../clients/errors.ts";
import { faultHeader } from "./faults.ts";

/** What becomes known about a request while it is answered. */
export interface RequestNotes {
  /** E.g. `GetObject`, `AssumeRole`. */
  operation?: string;
  accessKeyId?: string;
  /** The code of the refusal. */
  error?: string;
}

export interface RequestLog {
  /** Writes the line of a request once its answer is over, with what `notes` says by then. */
  follow(request: IncomingMessage, response: ServerResponse, notes?: RequestNotes): void;
  /** Writes the lines of the requests that are not over yet, which the server has let go of by then. */
  close(): Promise<void>;
}

/**
 * Appends one JSON line for each request to a file. Neither bodies nor headers are written, and of the query only what
 * is no signature, so that the log holds no secret. A line without a status is of a request that got no answer.
 *
 * @throws UserError when the file cannot be written
 */
export function openRequestLog(file: string): RequestLog {
  const stream = createWriteStream("", { fd: openForAppending(file) });
  const underWay = new Set<Promise<unknown>>();
  return {
    follow(request, response, notes = {}) {
      const started = performance.now();
      const over = new Promise<void>((resolve) => response.once("close", resolve)).then(() => {
        const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
        for (const name of [...searchParams.keys()]) if (/^x-amz-/i.test(name)) searchParams.delete(name);
        const entry = {
          time: new Date().toISOString(),
          method: request.method,
          path: pathname,
          query: searchParams.toString(),
          ...notes,
          status: response.headersSent ? response.statusCode : undefined,
          milliseconds: Math.round(performance.now() - started),
          fault: response.getHeader(faultHeader),
        };
        stream.write(`${JSON.stringify(entry)}\n`);
        underWay.delete(over);
      });
      underWay.add(over);
    },
    async close() {
      // A server may be closed a moment before the answers whose connections it has cut.
      await Promise.all(underWay);
      stream.end();
      await finished(stream);
    },
  };
}

function openForAppending(file: string): number {
  try {
    return openSync(file, "a", 0o600);
  } catch (error) {
    throw new UserError(`Cannot write the request log ${file}: ${(error as Error).message}. Choose another file.`);
  }
}
