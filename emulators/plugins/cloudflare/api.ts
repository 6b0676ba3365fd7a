import { setTimeout as delay } from "node:timers/promises";
import { request } from "undici";
import type { Properties } from "../protocol.ts";
import { Diagnostic } from "./diagnostics.ts";
import { parseKeepingText, statusTexts, toJson } from "./goText.ts";

export interface Credentials {
  apiToken?: string | undefined;
  apiKey?: string | undefined;
  email?: string | undefined;
}

export interface ApiOptions {
  /** E.g. `https://api.cloudflare.com/client/v4`. */
  baseUrl: string;
  credentials: Credentials;
  /** Of the real plugin's waits between two tries, how much is waited here: 1 for all. */
  patience: number;
}

export interface Call {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below the base URL, e.g. `accounts/<id>/tokens`. */
  path: string;
  query?: Record<string, string | undefined>;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  body?: Properties;
  multipart?: { boundary: string; text: string };
}

export interface Answer {
  status: number;
  contentType: string;
  url: string;
  text: string;
}

const failed = "failed to make http request";
/** Seconds, before each further try. */
const waits = [1.5, 3, 6, 12, 24, 30, 30, 30, 30, 30];
/** Keys whose values the resources keep as the text that the API sent. */
const keptAsText = ["resources", "meta"];

const userAgent =
  "terraform-provider-cloudflare/pulumi terraform-plugin-framework/1.19.0 terraform/1.0.0+pulumi-terraform-bridge";
const stainlessHeaders = {
  "X-Stainless-Arch": process.arch,
  "X-Stainless-Lang": "Terraform",
  "X-Stainless-Os": "Linux",
  "X-Stainless-Package-Version": "pulumi",
  "X-Stainless-Runtime": "terraform-plugin-framework",
  "X-Stainless-Runtime-Version": "1.19.0",
};

/** Cloudflare's API as the real plugin (level 6.17) calls it: the same headers, tries and errors. */
export class CloudflareApi {
  readonly #options: ApiOptions;

  constructor(options: ApiOptions) {
    this.#options = options;
  }

  /** @throws Diagnostic for every answer but those of success */
  async call(call: Call): Promise<Answer> {
    const answer = await this.#send(call);
    if (answer.status >= 400) throw failure(call, answer);
    return answer;
  }

  /** Undefined when there is no such thing. */
  async find(call: Call): Promise<Answer | undefined> {
    const answer = await this.#send(call);
    if (answer.status === 404) return undefined;
    if (answer.status >= 400) throw failure(call, answer);
    return answer;
  }

  async #send(call: Call): Promise<Answer> {
    const url = this.#urlOf(call);
    for (let attempt = 0; ; attempt++) {
      const wait = waits[attempt];
      const outcome = await this.#try(url, call, attempt);
      if (!("error" in outcome)) {
        const retried = outcome.retryable && wait !== undefined;
        if (!retried) return outcome;
        await this.#wait(outcome.retryAfter ?? wait);
      } else if (wait === undefined) {
        throw new Diagnostic(failed, `${goMethod(call)} "${url}": ${outcome.error}`);
      } else {
        await this.#wait(wait);
      }
    }
  }

  #wait(seconds: number): Promise<void> {
    return delay(seconds * 1000 * this.#options.patience);
  }

  #urlOf({ path, query = {} }: Call): string {
    const url = new URL(path, `${this.#options.baseUrl.replace(/\/+$/, "")}/`);
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value);
    return url.href;
  }

  async #try(
    url: string,
    call: Call,
    attempt: number,
  ): Promise<(Answer & { retryable: boolean; retryAfter?: number }) | { error: string }> {
    const { text, type } = contentOf(call);
    try {
      const { statusCode, headers, body } = await request(url, {
        method: call.method,
        headers: {
          "User-Agent": userAgent,
          Accept: "application/json",
          ...authorization(this.#options.credentials),
          ...call.headers,
          ...(type !== undefined && { "Content-Type": type }),
          ...stainlessHeaders,
          "X-Stainless-Retry-Count": String(attempt),
        },
        ...(text !== undefined && { body: text }),
      });
      const shouldRetry = headers["x-should-retry"];
      const isTransient = statusCode === 408 || statusCode === 409 || statusCode === 429 || statusCode >= 500;
      const retryAfter = Number(headers["retry-after"] ?? NaN);
      return {
        status: statusCode,
        contentType: String(headers["content-type"] ?? ""),
        url,
        text: await body.text(),
        retryable: shouldRetry === undefined ? isTransient : shouldRetry === "true",
        ...(Number.isFinite(retryAfter) && { retryAfter }),
      };
    } catch (error) {
      return { error: connectionError(url, error as NodeJS.ErrnoException) };
    }
  }
}

/** The `result` in Cloudflare's envelope. */
export function resultOf({ text }: Answer): unknown {
  return (parseKeepingText(text, keptAsText) as { result: unknown }).result;
}

function failure({ method }: Call, { url, status, text }: Answer): Diagnostic {
  return new Diagnostic(
    failed,
    `${method} "${url}": ${status} ${statusTexts[status] ?? ""} ${isJson(text) ? text : ""}`,
  );
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function contentOf({ body, multipart }: Call): { text?: string; type?: string } {
  if (multipart !== undefined) {
    return { text: multipart.text, type: `multipart/form-data; boundary=${multipart.boundary}` };
  }
  if (body === undefined) return {};
  try {
    return { text: toJson(body), type: "application/json" };
  } catch (error) {
    throw new Diagnostic("failed to serialize http request", (error as Error).message);
  }
}

function authorization({ apiToken, apiKey, email }: Credentials): Record<string, string> {
  if (apiToken !== undefined) return { Authorization: `Bearer ${apiToken}` };
  return {
    ...(email !== undefined && { "X-Auth-Email": email }),
    ...(apiKey !== undefined && { "X-Auth-Key": apiKey }),
  };
}

function goMethod({ method }: Call): string {
  return method.slice(0, 1) + method.slice(1).toLowerCase();
}

function connectionError(url: string, { code, message }: NodeJS.ErrnoException): string {
  const { hostname, host } = new URL(url);
  if (code === "ECONNREFUSED") return `dial tcp ${host}: connect: connection refused`;
  if (code === "ENOTFOUND") return `dial tcp: lookup ${hostname}: no such host`;
  return message === "" ? (code ?? "EOF") : message;
}
