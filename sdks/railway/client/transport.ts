import { Agent, request, type Dispatcher } from "undici";
import { z } from "zod";
import { retryAfter } from "../../../clients/http.ts";
import { redact } from "../../../clients/redact.ts";
import { classify, paceDelay, RailwayError } from "./errors.ts";
import { Limit } from "./limit.ts";
import { tokenHeader, type RailwayToken, type Settings } from "./settings.ts";

const SOURCE = "lakekeeper-stack";
/** As Railway's own CLI: long mutations take more than half a minute. */
const TIMEOUT_SECONDS = 90;
/** Well below the 10 requests a second of the smallest plan, however many resources Pulumi makes at once. */
const MOST_IN_FLIGHT = 5;

export interface Call {
  readonly document: string;
  readonly variables: Readonly<Record<string, unknown>>;
  /** Begins every message, such as `Railway, serviceCreate of service "serve"`. */
  readonly what: string;
  /** Values that no message may show. */
  readonly secrets: readonly string[];
  /** In place of the one configured, to find out which kind it is. */
  readonly token?: RailwayToken;
}

const answerSchema = z.object({
  data: z.record(z.string(), z.unknown()).nullish(),
  errors: z
    .array(z.object({ message: z.string(), extensions: z.looseObject({ code: z.unknown() }).nullish().catch(null) }))
    .nullish(),
});

const NEVER_SENT = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"];

/** Sends one GraphQL request at a time to Railway and makes every outcome but data a `RailwayError`. No retries here. */
export class Transport {
  readonly #settings: Settings;
  readonly #url: URL;
  readonly #dispatcher: Dispatcher;
  readonly #limit = new Limit(MOST_IN_FLIGHT);

  constructor(settings: Settings, dispatcher: Dispatcher = new Agent({ connections: MOST_IN_FLIGHT })) {
    this.#settings = settings;
    this.#dispatcher = dispatcher;
    this.#url = new URL(settings.endpoint);
    // Traffic that does not say where it comes from is limited by the edge, far below the plan's limit.
    this.#url.searchParams.set("source", SOURCE);
  }

  async send(call: Call): Promise<Record<string, unknown>> {
    const token = call.token ?? this.#settings.token;
    const headers = {
      ...tokenHeader(token),
      "content-type": "application/json",
      accept: "application/json",
      "user-agent": SOURCE,
    };
    const secrets = [...call.secrets, token?.value ?? ""];
    const answer = await this.#limit.run(() => this.#post(call, headers));
    return dataOf(answer, call.what, secrets);
  }

  async #post({ document, variables, what }: Call, headers: Record<string, string>): Promise<Answer> {
    try {
      const response = await request(this.#url, {
        method: "POST",
        headers,
        // An undefined variable is left out, which keeps what is there; null would unset it.
        body: JSON.stringify({ query: document, variables }),
        dispatcher: this.#dispatcher,
        headersTimeout: TIMEOUT_SECONDS * 1_000,
        signal: AbortSignal.timeout(TIMEOUT_SECONDS * 1_000),
      });
      return { status: response.statusCode, headers: response.headers, text: await response.body.text() };
    } catch (error) {
      const cause = error instanceof AggregateError ? (error.errors[0] as Error) : (error as Error);
      const neverSent = NEVER_SENT.includes((cause as Error & { code?: string }).code ?? "");
      const reason = cause.name === "TimeoutError" ? `no answer within ${TIMEOUT_SECONDS} s` : cause.message;
      throw new RailwayError(
        neverSent ? "unreachable" : "ambiguous",
        `${what}: ${reason} (${this.#url.origin}). Check the network and run the command again.`,
      );
    }
  }
}

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
}

function dataOf({ status, headers, text }: Answer, what: string, secrets: readonly string[]): Record<string, unknown> {
  const body = answerSchema.safeParse(parsed(text)).data;
  const error = body?.errors?.[0];
  if (status === 200 && error === undefined && body?.data) return body.data;

  const said = redact(body?.errors?.map(({ message }) => message).join("; ") ?? text.slice(0, 200), secrets).trim();
  if (status === 429) {
    const delay = retryAfter(headers["retry-after"]);
    throw new RailwayError(
      "throttled",
      `${what}: 429, too many requests for the plan's limit. Try again later.`,
      delay,
    );
  }
  if (status === 200 && error === undefined) {
    throw new RailwayError("ambiguous", `${what}: Railway answered without data. Run the command again.`);
  }
  if (error === undefined || status >= 500 || status === 408) {
    const kind =
      status >= 500 || status === 408 ? "ambiguous" : status === 401 || status === 403 ? "notAuthorized" : "refused";
    throw new RailwayError(kind, `${what}: HTTP ${status}${said === "" ? "" : ` - ${said}`}. ${remedies[kind]}`);
  }
  const known = classify(error.message, error.extensions?.code);
  const kind = known === "refused" && status === 400 ? "validation" : known;
  const delay = kind === "throttled" ? paceDelay(error.message) : undefined;
  throw new RailwayError(kind, `${what}: Railway said "${said}". ${remedies[kind]}`, delay);
}

const remedies = {
  notFound: "See on railway.com whether it is there; `pulumi up --refresh` notices what was deleted.",
  notAuthorized:
    "Either the token is not valid any more or it may not do this: compare its workspace or project with this stack's. Nothing was taken as deleted.",
  throttled: "Wait a while and run the command again.",
  conflict: "Choose another name, or remove the other one.",
  validation: "The API has changed or an input is wrong: this release may be older than the API.",
  masked: "Railway hides the reason: see status.railway.com and run the command again, which continues from here.",
  ambiguous: "It may have been done all the same: run the command again, which looks and continues from here.",
  refused: "Put right what it says and run the command again.",
  unreachable: "Check the network and run the command again.",
} as const;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
