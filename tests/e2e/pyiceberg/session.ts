import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { parseJson } from "../../../clients/json.ts";
import { stringifyJson } from "../../../emulators/lakekeeper/http/json.ts";

/** What the client raised; the message begins with the class of the exception. */
export class ClientError extends Error {}

/** A snapshot as the verbs `history` and `snapshots` describe it; `at` in milliseconds since 1970. */
export interface Snapshot {
  readonly id: bigint;
  readonly parent: bigint | null;
  readonly at: number;
  readonly operation: "append" | "overwrite" | "delete" | "replace";
  readonly summary: Readonly<Record<string, string>>;
  readonly manifestList: string;
}

type Outcome = { readonly value: unknown } | { readonly error: string; readonly message: string };

/** A process of Python that does what it is told, one call after the other: session.py or duckdb_session.py. */
export class Session {
  readonly #process: ChildProcess;
  readonly #answers: AsyncIterator<string, undefined>;
  #errors = "";
  #last: Promise<unknown> = Promise.resolve();

  constructor(python: string, script: string, environment: Record<string, string>) {
    this.#process = spawn(python, ["-B", script], { env: environment, stdio: ["pipe", "pipe", "pipe"] });
    this.#process.stderr!.setEncoding("utf8").on("data", (text: string) => (this.#errors += text));
    this.#answers = createInterface({ input: this.#process.stdout! })[Symbol.asyncIterator]();
  }

  /**
   * Calls a function of the script. Integers beyond 2^53 are bigints both ways.
   *
   * @throws ClientError
   */
  do<T = unknown>(verb: string, args: Record<string, unknown> = {}): Promise<T> {
    const answer = this.#last.then(async () => {
      this.#process.stdin!.write(`${stringifyJson({ verb, arguments: args })}\n`);
      const line = (await this.#answers.next()).value;
      if (line === undefined) throw new Error(`The client ended while it was to ${verb}:\n${this.#errors}`);
      const outcome = parseJson(line) as Outcome;
      if ("error" in outcome) throw new ClientError(`${outcome.error}: ${outcome.message}`);
      return outcome.value as T;
    });
    this.#last = answer.catch(() => undefined);
    return answer;
  }

  async end(): Promise<void> {
    if (this.#process.exitCode !== null) return;
    const closed = once(this.#process, "close");
    this.#process.stdin!.end();
    await closed;
  }
}
