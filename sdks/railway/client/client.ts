import type { Dispatcher } from "undici";
import type { z } from "zod";
import { backoff, retry } from "../../../clients/retry.ts";
import { isRailwayError, RailwayError } from "./errors.ts";
import { secretsOf } from "./secrets.ts";
import { readSettings, type ConfigureRequest, type RailwayToken, type Settings } from "./settings.ts";
import { Transport } from "./transport.ts";

/** A query or mutation: its document, `query name(...) {...}`, and the shape of the data that is used of its answer. */
export interface Operation<Data> {
  readonly document: string;
  readonly data: z.ZodType<Data>;
}

export interface CallOptions {
  /** The object that it is about, such as `service "serve"`, for messages. */
  readonly of: string;
  /** In place of the one configured. */
  readonly token?: RailwayToken;
}

const ATTEMPTS = 7;
const ATTEMPTS_WHEN_THROTTLED = 10;

/**
 * Railway's GraphQL API. Queries are sent again after whatever may pass; a mutation only when it was certainly not done,
 * or when doing it twice does no harm.
 */
export class Railway {
  readonly settings: Settings;
  readonly #transport: Transport;
  #mutations = 0;

  constructor(settings: Settings, dispatcher?: Dispatcher) {
    this.settings = settings;
    this.#transport = new Transport(settings, dispatcher);
  }

  /** How many mutations have been sent or answered: what was read before may be out of date when it grows. */
  get mutations(): number {
    return this.#mutations;
  }

  async query<Data>(operation: Operation<Data>, variables: object, options: CallOptions): Promise<Data> {
    return this.#call(operation, variables, options, true);
  }

  /** For a mutation whose second sending does no harm: it sets something to a value, or deletes. */
  async mutateRepeatably<Data>(operation: Operation<Data>, variables: object, options: CallOptions): Promise<Data> {
    return this.#mutate(operation, variables, options, true);
  }

  /** For a mutation that makes something each time it is sent; see `makeOnce` for what to do when its outcome is open. */
  async mutateOnce<Data>(operation: Operation<Data>, variables: object, options: CallOptions): Promise<Data> {
    return this.#mutate(operation, variables, options, false);
  }

  async #mutate<Data>(operation: Operation<Data>, variables: object, options: CallOptions, repeatable: boolean) {
    this.#mutations++;
    return this.#call(operation, variables, options, repeatable).finally(() => this.#mutations++);
  }

  async #call<Data>(
    { document, data }: Operation<Data>,
    variables: object,
    { of, token }: CallOptions,
    repeatable: boolean,
  ): Promise<Data> {
    const what = `Railway, ${/\w+ (\w+)/.exec(document)?.[1]} of ${of}`;
    const call = {
      document,
      variables: variables as Record<string, unknown>,
      what,
      secrets: secretsOf(variables),
      ...(token && { token }),
    };
    const answer = await retry(
      () => this.#transport.send(call),
      (error, attempt) => delayAfter(error, attempt, repeatable),
    );
    const result = data.safeParse(answer);
    if (result.success) return result.data;
    const where = result.error.issues.map((issue) => issue.path.join(".")).join(", ");
    throw new RailwayError("refused", `${what}: the answer is not as expected (${where}). The API may have changed.`);
  }
}

function delayAfter(error: unknown, attempt: number, repeatable: boolean): number | undefined {
  const pause = backoff(attempt, { first: 500, most: 10_000 });
  if (isRailwayError(error, "throttled")) {
    return attempt < ATTEMPTS_WHEN_THROTTLED ? (error.delay ?? pause) : undefined;
  }
  if (attempt >= ATTEMPTS) return undefined;
  if (isRailwayError(error, "unreachable")) return pause;
  return repeatable && isRailwayError(error, "ambiguous", "masked") ? pause : undefined;
}

const clients = new Map<string, Railway>();
let current: Settings | undefined;

/** For a provider's `configure`. Asks for no token: a preview of a new stack needs none. */
export async function configure(request: unknown): Promise<void> {
  current = readSettings(request as ConfigureRequest);
}

/** The client of this process: all resources share its limits and what it has read. */
export function railway(): Railway {
  const settings = current ?? readSettings({ config: { get: () => undefined } });
  const key = JSON.stringify(settings);
  const client = clients.get(key) ?? new Railway(settings);
  clients.set(key, client);
  return client;
}
