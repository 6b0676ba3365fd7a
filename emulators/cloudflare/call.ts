import type { AccountToken } from "../r2/accountTokens.ts";
import type { CloudflareAccount } from "./account.ts";
import { invalidBody } from "./errors.ts";
import type { GroupName } from "./permissionGroups.ts";

export interface ApiCall {
  account: CloudflareAccount;
  /** The API token that the request bears. */
  bearer: AccountToken;
  /** Of the route's path, e.g. `{ account, bucket }`. */
  parameters: Readonly<Record<string, string>>;
  query: URLSearchParams;
  header: (name: string) => string | undefined;
  body: Buffer;
  /** In milliseconds since 1970. */
  now: number;
}

export interface Route {
  name: string;
  method: string;
  /** Below `/client/v4`, with parameters: `/accounts/:account/tokens`. */
  path: string;
  /** One of these is enough; none is needed when it is left out. */
  permissions?: readonly GroupName[];
  /** The `result` of the answer, or a RawAnswer. */
  handle(call: ApiCall): unknown;
}

/** An answer without Cloudflare's envelope. */
export class RawAnswer {
  readonly type: string;
  readonly body: string;

  constructor(type: string, body: string) {
    this.type = type;
    this.body = body;
  }
}

/**
 * The body as an object that has only the fields that are known.
 *
 * @throws CloudflareError
 */
export function readObject<Field extends string>(
  { body }: ApiCall,
  known: readonly Field[],
): Partial<Record<Field, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(body.toString("utf8"));
  } catch {
    // Refused below like any other text that is no object.
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalidBody("the body must be a JSON object");
  const unknown = Object.keys(value).find((name) => !(known as readonly string[]).includes(name));
  if (unknown !== undefined) throw invalidBody(`unknown field "${unknown}"`);
  return value;
}

/** Cloudflare's times have no milliseconds. */
export function isoSeconds(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+/, "");
}
