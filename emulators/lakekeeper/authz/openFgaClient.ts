/** An answer of OpenFGA that is a refusal, or none at all; the message never holds the key. */
export class OpenFgaFailure extends Error {
  /** OpenFGA's own name of the refusal; undefined when there was no answer. */
  readonly code: string | undefined;

  constructor(message: string, code?: string) {
    super(message);
    this.code = code;
  }
}

export interface TupleKey {
  readonly user: string;
  readonly relation: string;
  readonly object: string;
}

const timeoutMilliseconds = 10_000;
const pageSize = 100;
/** As many changes and checks as OpenFGA takes in one request unless it is configured otherwise. */
const mostChanges = 100;
const mostChecks = 50;

/** One OpenFGA, by its HTTP API. The real server uses the gRPC API, which has the same calls. */
export class OpenFgaClient {
  readonly #endpoint: string;
  readonly #key: string | undefined;

  constructor({ endpoint, apiKey }: { endpoint: string; apiKey: string | undefined }) {
    this.#endpoint = endpoint.replace(/\/+$/, "");
    this.#key = apiKey;
  }

  /** Throws OpenFgaFailure. */
  async send<T>(method: "GET" | "POST", path: string, body?: object): Promise<T> {
    let answer: Response;
    let text: string;
    try {
      answer = await fetch(this.#endpoint + path, {
        method,
        headers: {
          "content-type": "application/json",
          ...(this.#key !== undefined && { authorization: `Bearer ${this.#key}` }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(timeoutMilliseconds),
      });
      text = await answer.text();
    } catch (error) {
      const { message, cause } = error as Error;
      throw new OpenFgaFailure(`OpenFGA at ${this.#endpoint}: ${cause instanceof Error ? cause.message : message}`);
    }
    let read: { code?: string; message?: string };
    try {
      read = JSON.parse(text || "{}") as typeof read;
    } catch {
      throw new OpenFgaFailure(`OpenFGA at ${this.#endpoint}: status ${answer.status}, and no JSON`);
    }
    if (!answer.ok)
      throw new OpenFgaFailure(
        `OpenFGA at ${this.#endpoint}: status ${answer.status}, ${read.code ?? "no code"}: ${read.message ?? ""}`,
        read.code,
      );
    return read as T;
  }
}

/** A store of OpenFGA and the model in it that counts. */
export class OpenFgaStore {
  readonly #client: OpenFgaClient;
  readonly #path: string;
  readonly #model: string;

  constructor(client: OpenFgaClient, storeId: string, modelId: string) {
    this.#client = client;
    this.#path = `/stores/${storeId}`;
    this.#model = modelId;
  }

  /** Answers in the order of the questions. */
  async check(keys: readonly TupleKey[]): Promise<boolean[]> {
    const parts = await Promise.all(
      chunks(keys, mostChecks).map(async (part) => {
        const { result } = await this.#client.send<{ result: Record<string, { allowed?: boolean }> }>(
          "POST",
          `${this.#path}/batch-check`,
          {
            authorization_model_id: this.#model,
            checks: part.map((key, index) => ({ tuple_key: key, correlation_id: String(index) })),
          },
        );
        return part.map((_, index) => result[String(index)]?.allowed === true);
      }),
    );
    return parts.flat();
  }

  /** All tuples with what is named; empty fields match everything, an object that ends in a colon all of its type. */
  async read(wanted: Partial<TupleKey> & { object: string }): Promise<TupleKey[]> {
    const found: TupleKey[] = [];
    for (let token: string | undefined; token !== "";) {
      const page: { tuples: { key: TupleKey }[]; continuation_token: string } = await this.#client.send(
        "POST",
        `${this.#path}/read`,
        { tuple_key: wanted, page_size: pageSize, ...(token !== undefined && { continuation_token: token }) },
      );
      found.push(...page.tuples.map(({ key: { user, relation, object } }) => ({ user, relation, object })));
      token = page.continuation_token;
    }
    return found;
  }

  /** All changes or none. */
  async write(
    changes: { writes?: readonly TupleKey[]; deletes?: readonly TupleKey[] },
    onDuplicate: "error" | "ignore" = "error",
  ): Promise<void> {
    const { writes = [], deletes = [] } = changes;
    if (writes.length + deletes.length === 0) return;
    await this.#client.send("POST", `${this.#path}/write`, {
      authorization_model_id: this.#model,
      ...(writes.length > 0 && { writes: { tuple_keys: writes, on_duplicate: onDuplicate } }),
      ...(deletes.length > 0 && { deletes: { tuple_keys: deletes, on_missing: "error" } }),
    });
  }

  /** However many there are; some of them may be gone already. */
  async remove(keys: readonly TupleKey[]): Promise<void> {
    for (const part of chunks(keys, mostChanges))
      await this.#client.send("POST", `${this.#path}/write`, {
        authorization_model_id: this.#model,
        deletes: { tuple_keys: part, on_missing: "ignore" },
      });
  }
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
