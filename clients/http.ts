import { Agent, request as send, type Dispatcher } from "undici";
import { z } from "zod";
import { NoAnswer, UserError } from "./errors.ts";
import { parseJson } from "./json.ts";
import { redact, secretsIn } from "./redact.ts";
import { backoff, retry } from "./retry.ts";

export interface HttpRequest {
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path and query below the base URL, already encoded. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** True when sending it twice does no harm; by default the methods HTTP calls idempotent. */
  readonly repeatable?: boolean;
  readonly timeoutSeconds?: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The body as JSON; integers beyond 2^53 come as bigint. Undefined when there is none. */
  readonly json: unknown;
}

export interface HttpClientOptions {
  /** How messages call the other side, such as "Lakekeeper". */
  readonly service: string;
  readonly baseUrl: string;
  /** The value of the Authorization header, asked for before each request. */
  readonly authorization?: () => Promise<string | undefined>;
  readonly connections?: number;
  /** How often a request is tried at most. @default 6, over about ten seconds */
  readonly attempts?: number;
  /** What a person can do about an answer; added to the message. */
  readonly remedy?: (error: HttpError) => string | undefined;
  readonly dispatcher?: Dispatcher;
}

/** An answer that is not 2xx. `type` is the server's name for the error, such as `NoSuchTableException`. */
export class HttpError extends UserError {
  readonly status: number;
  readonly type: string | undefined;
  /** What the server said, redacted. */
  readonly said: string;

  constructor(prefix: string, answer: HttpAnswer, secrets: readonly string[]) {
    const { type, said } = readError(answer);
    const words = redact(said, secrets);
    super(`${prefix}: ${answer.status}${type === undefined ? "" : ` ${type}`}${words === "" ? "" : ` - ${words}`}`);
    this.status = answer.status;
    this.type = type;
    this.said = words;
  }

  /** Adds what a person can do about it. */
  advise(remedy: string | undefined): this {
    if (remedy !== undefined) this.stack = this.message += `. ${remedy}`;
    return this;
  }
}

/** No answer at all. `sent` is false when the request certainly never reached the other side. */
export class Unreachable extends NoAnswer {
  readonly sent: boolean;

  constructor(prefix: string, cause: Error, sent: boolean) {
    super(
      `${prefix}: ${reasonOf(cause)}. Check that it runs and that its address is right; then run the command again.`,
    );
    this.sent = sent;
  }
}

const NEVER_SENT = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);
const BUSY = new Set([408, 502, 503, 504]);

/**
 * A JSON client with timeouts, bounded connections and retries that are safe: whatever never left this machine or was
 * answered with 429 is sent again, everything else only when it may be repeated. No message shows a secret.
 */
export class HttpClient {
  readonly #options: HttpClientOptions;
  readonly #dispatcher: Dispatcher;
  readonly #base: string;

  constructor(options: HttpClientOptions) {
    this.#options = options;
    this.#base = options.baseUrl.replace(/\/+$/, "");
    this.#dispatcher = options.dispatcher ?? new Agent({ connections: options.connections ?? 4 });
  }

  async request(request: HttpRequest): Promise<HttpAnswer> {
    const repeatable = request.repeatable ?? !["POST", "PATCH"].includes(request.method);
    return retry(
      () => this.#once(request),
      (error, attempt) => {
        if (attempt >= (this.#options.attempts ?? 6)) return undefined;
        if (error instanceof RateLimited) return error.delay ?? backoff(attempt, { first: 1_000, most: 20_000 });
        if (error instanceof Unreachable) return repeatable || !error.sent ? backoff(attempt) : undefined;
        if (error instanceof HttpError) return repeatable && BUSY.has(error.status) ? backoff(attempt) : undefined;
        return undefined;
      },
    );
  }

  async close(): Promise<void> {
    if (this.#options.dispatcher === undefined) await this.#dispatcher.close();
  }

  async #once(request: HttpRequest): Promise<HttpAnswer> {
    const { method, path, body, timeoutSeconds = 60 } = request;
    const authorization = await this.#options.authorization?.();
    const prefix = `${this.#options.service} at ${this.#base}, ${method} ${path}`;
    const secrets = [...secretsIn(body), ...(authorization === undefined ? [] : [authorization.replace(/^\S+ /, "")])];

    let answer: HttpAnswer;
    try {
      const response = await send(this.#base + path, {
        method,
        dispatcher: this.#dispatcher,
        signal: AbortSignal.timeout(timeoutSeconds * 1_000),
        headers: {
          accept: "application/json",
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...(authorization === undefined ? {} : { authorization }),
          ...request.headers,
        },
        body: body === undefined ? null : JSON.stringify(body),
      });
      const text = await response.body.text();
      answer = {
        status: response.statusCode,
        headers: response.headers,
        text,
        json: isJson(response.headers["content-type"]) && text !== "" ? parseJson(text) : undefined,
      };
    } catch (error) {
      const cause = error as Error & { code?: string };
      throw new Unreachable(prefix, cause, !NEVER_SENT.has(cause.code ?? ""));
    }

    if (answer.status >= 200 && answer.status < 300) return answer;
    if (answer.status === 429) throw new RateLimited(prefix, answer, secrets);
    const failure = new HttpError(prefix, answer, secrets);
    failure.advise(this.#options.remedy?.(failure));
    throw failure;
  }
}

/** 429: refused before anything was done, so it may be sent again after `delay` milliseconds. */
class RateLimited extends HttpError {
  readonly delay: number | undefined;

  constructor(prefix: string, answer: HttpAnswer, secrets: readonly string[]) {
    super(prefix, answer, secrets);
    this.delay = retryAfter(answer.headers["retry-after"]);
  }
}

/** Milliseconds of a Retry-After header (seconds or a date), at most a minute. */
export function retryAfter(header: string | string[] | undefined): number | undefined {
  if (typeof header !== "string") return undefined;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1_000;
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), 60) * 1_000 : undefined;
}

function isJson(contentType: string | string[] | undefined): boolean {
  return /[/+]json\b/.test(String(contentType));
}

const icebergError = z.object({
  error: z.object({ message: z.string(), type: z.string(), stack: z.array(z.string()).nullish() }),
});

/** Iceberg's error object, plain text (how Lakekeeper answers a body of the wrong shape), or nothing. */
function readError(answer: HttpAnswer): { type: string | undefined; said: string } {
  const parsed = icebergError.safeParse(answer.json);
  if (!parsed.success) return { type: undefined, said: answer.text.trim().slice(0, 500) };
  const { type, message, stack } = parsed.data.error;
  return { type, said: [message, ...(stack ?? []).map((line) => `(${line})`)].join(" ") };
}

function reasonOf(cause: Error): string {
  if (cause.name === "TimeoutError") return "no answer in time";
  // Node gives several addresses' failures as one error without a message.
  const first = cause instanceof AggregateError ? (cause.errors[0] as Error) : cause;
  return first.message;
}
