import type { IncomingMessage, ServerResponse } from "node:http";
import type { AccountToken } from "./accountTokens.ts";
import { includes, isPermission } from "./permissions.ts";
import type { RequestNotes } from "../requestLog.ts";
import { mint, type Account, type Scope } from "./temporaryCredentials.ts";

/** A refusal as Cloudflare's API words it. */
class CloudflareError extends Error {
  override readonly name = "CloudflareError";
  readonly code: number;
  readonly status: number;

  constructor(status: number, code: number, message: string) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

interface ApiCall {
  account: Account;
  /** The API token that the request bears. */
  bearer: AccountToken;
  parameters: string[];
  body: string;
  now: number;
}

interface Route {
  name: string;
  method: string;
  /** Below `/client/v4/accounts/<account id>`. */
  path: RegExp;
  handle(call: ApiCall): object;
}

const routes: readonly Route[] = [
  {
    name: "CreateTemporaryCredentials",
    method: "POST",
    path: /^\/r2\/temp-access-credentials$/,
    handle: createTemporaryCredentials,
  },
  {
    name: "VerifyToken",
    method: "GET",
    path: /^\/tokens\/verify$/,
    handle: ({ bearer }) => ({ id: bearer.id, status: "active" }),
  },
  { name: "DeleteToken", method: "DELETE", path: /^\/tokens\/(\w+)$/, handle: deleteToken },
];

/** Answers the part of Cloudflare's API that concerns R2's credentials, in its envelope. */
export async function handleCloudflare(
  request: IncomingMessage,
  response: ServerResponse,
  account: Account,
  now: number,
  notes: RequestNotes,
): Promise<void> {
  let status = 200;
  let envelope: object;
  try {
    const result = await route(request, account, now, notes);
    envelope = { success: true, errors: [], messages: [], result };
  } catch (error) {
    if (!(error instanceof CloudflareError)) throw error;
    status = error.status;
    notes.error = String(error.code);
    envelope = errorEnvelope(error.code, error.message);
  }
  const text = JSON.stringify(envelope);
  response
    .writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) })
    .end(text);
}

export function errorEnvelope(code: number, message: string): object {
  return { success: false, errors: [{ code, message }], messages: [], result: null };
}

async function route(request: IncomingMessage, account: Account, now: number, notes: RequestNotes): Promise<unknown> {
  const { pathname } = new URL(request.url ?? "/", "http://localhost");
  const [, accountId, path = ""] = /^\/client\/v4\/accounts\/([^/]+)(\/.*)$/.exec(pathname) ?? [];
  const candidates = routes.filter((candidate) => candidate.path.test(path));
  if (candidates.length === 0) {
    throw new CloudflareError(404, 7003, `Could not route to ${pathname}, perhaps your object identifier is invalid?`);
  }
  const found = candidates.find(({ method }) => method === request.method);
  if (found === undefined) throw new CloudflareError(405, 10405, "Method not allowed for this authentication scheme");
  notes.operation = found.name;
  const bearer = authenticate(request, account);
  notes.accessKeyId = bearer.id;
  if (accountId !== account.id) throw new CloudflareError(403, 10000, "Authentication error");
  const body = await readBody(request);
  return found.handle({ account, bearer, parameters: found.path.exec(path)!.slice(1), body, now });
}

function authenticate(request: IncomingMessage, { tokens }: Account): AccountToken {
  const header = request.headers.authorization;
  if (header === undefined)
    throw new CloudflareError(400, 9106, "Missing X-Auth-Key, X-Auth-Email or Authorization headers");
  const [, value] = /^Bearer (\S+)$/.exec(header) ?? [];
  if (value === undefined) throw new CloudflareError(400, 6003, "Invalid request headers");
  const token = tokens.findByValue(value);
  if (token === undefined) throw new CloudflareError(403, 10000, "Authentication error");
  return token;
}

function createTemporaryCredentials({ account, bearer, body, now }: ApiCall): object {
  const { bucket, parentAccessKeyId, permission, ttlSeconds, prefixes, objects, ...others } = parseJson(body);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw invalid(`unknown field "${unknown}"`);
  if (typeof bucket !== "string") throw invalid("bucket must be a string");
  if (typeof parentAccessKeyId !== "string") throw invalid("parentAccessKeyId must be a string");
  if (!isPermission(permission)) {
    throw invalid("permission must be admin-read-write, admin-read-only, object-read-write or object-read-only");
  }
  if (typeof ttlSeconds !== "number" || !Number.isInteger(ttlSeconds) || ttlSeconds < 1 || ttlSeconds > 604_800) {
    throw invalid("ttlSeconds must be a whole number from 1 to 604800");
  }
  if (parentAccessKeyId !== bearer.id)
    throw new CloudflareError(403, 10003, "Access Denied: parentAccessKeyId is not that of the API token");
  if (!includes(bearer.permission, permission))
    throw new CloudflareError(403, 10003, "Access Denied: the parent has not this permission");
  if (!account.hasBucket(bucket) || bearer.buckets?.includes(bucket) === false) {
    throw new CloudflareError(404, 10006, "The specified bucket does not exist.");
  }
  const scope: Scope = { bucket, scope: permission };
  const prefixPaths = optionalTexts(prefixes, "prefixes");
  const objectPaths = optionalTexts(objects, "objects");
  if (prefixPaths.length + objectPaths.length > 0) scope.paths = { prefixPaths, objectPaths };
  const { accessKeyId, secretAccessKey, sessionToken } = mint(account, bearer, scope, ttlSeconds, now);
  return { accessKeyId, secretAccessKey, sessionToken };
}

function deleteToken({ account, parameters: [id = ""] }: ApiCall): object {
  if (account.tokens.find(id) === undefined) throw new CloudflareError(404, 1001, "API token not found");
  account.tokens.revoke(id);
  return { id };
}

function optionalTexts(value: unknown, name: string): string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value) || !value.every((text) => typeof text === "string"))
    throw invalid(`${name} must be a list of strings`);
  return value;
}

function parseJson(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Refused below like any other text that is no object.
  }
  throw invalid("the body must be a JSON object");
}

function invalid(detail: string): CloudflareError {
  const message = "The JSON you provided was not well formed or did not validate against our published schema";
  return new CloudflareError(400, 10040, `${message}: ${detail}.`);
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) {
    body += chunk as string;
    if (body.length > 1_048_576) throw invalid("the body is too long");
  }
  return body;
}
