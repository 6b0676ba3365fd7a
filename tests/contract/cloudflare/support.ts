import { startR2, type R2, type R2Options } from "../../../emulators/r2/server.ts";
import { makeScratch } from "../../support/scratch.ts";

export const administrator = {
  id: "a".repeat(32),
  value: "administrator-token-of-forty-characters-x",
  permission: "admin-read-write",
} as const;

export const accountId = "0123456789abcdef0123456789abcdef";

export interface TestCloudflare extends R2 {
  /** Seconds by which the account's clock is ahead. */
  clock: { offset: number };
  call(method: string, path: string, options?: CallOptions): Promise<ApiAnswer>;
  stop(): Promise<void>;
}

export interface CallOptions {
  body?: unknown;
  headers?: Record<string, string>;
  /** The value of an API token, the administrator's unless another is given. */
  token?: string;
}

export interface ApiAnswer {
  status: number;
  /** Of the first error. */
  code?: number | undefined;
  message?: string | undefined;
  result: Record<string, unknown>;
  text: string;
}

/** An account that a token may administrate, with the domain example.com. */
export async function startCloudflare(options: Partial<R2Options> = {}): Promise<TestCloudflare> {
  const scratch = await makeScratch();
  const clock = { offset: 0 };
  const r2 = await startR2({
    directory: scratch.state,
    accountId,
    tokens: [administrator],
    zones: ["example.com"],
    now: () => Date.now() + clock.offset * 1000,
    ...options,
  });
  return {
    ...r2,
    clock,
    call: (method, path, call) => callApi(`${r2.url}/client/v4${path}`, method, call),
    async stop() {
      await r2.close();
      await scratch.remove();
    },
  };
}

async function callApi(url: string, method: string, { body, headers, token }: CallOptions = {}): Promise<ApiAnswer> {
  const isForm = body instanceof FormData || body instanceof Uint8Array;
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${token ?? administrator.value}`, ...headers },
    ...(body !== undefined && { body: isForm ? (body as FormData) : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type") === "application/json";
  const envelope = (isJson ? JSON.parse(text) : { errors: [] }) as {
    errors: { code: number; message: string }[];
    result: Record<string, unknown>;
  };
  const [error] = envelope.errors;
  return { status: response.status, code: error?.code, message: error?.message, result: envelope.result, text };
}

/** A form with a module Worker in it, as for an upload. */
export function workerForm(content: string, metadata: object = {}): FormData {
  const form = new FormData();
  form.set("worker.mjs", new File([content], "worker.mjs", { type: "application/javascript+module" }));
  const described = { main_module: "worker.mjs", compatibility_date: "2026-01-01", ...metadata };
  form.set("metadata", new Blob([JSON.stringify(described)], { type: "application/json" }));
  return form;
}
