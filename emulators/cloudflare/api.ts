import type { IncomingMessage, ServerResponse } from "node:http";
import type { AccountToken } from "../r2/accountTokens.ts";
import type { RequestNotes } from "../requestLog.ts";
import type { CloudflareAccount } from "./account.ts";
import { bucketRuleRoutes } from "./bucketRules.ts";
import { bucketRoutes } from "./buckets.ts";
import { RawAnswer, type Route } from "./call.ts";
import { dnsRoutes } from "./dns.ts";
import { CloudflareError, errorEnvelope, invalidBody, noRoute } from "./errors.ts";
import { groupsOf } from "./permissionGroups.ts";
import { temporaryCredentialRoutes } from "./temporaryCredentials.ts";
import { tokenRoutes } from "./tokens.ts";
import { workerDomainRoutes } from "./workerDomains.ts";
import { workerRoutes } from "./workerRoutes.ts";

const routes = [
  ...tokenRoutes,
  ...bucketRoutes,
  ...bucketRuleRoutes,
  ...temporaryCredentialRoutes,
  ...workerRoutes,
  ...workerDomainRoutes,
  ...dnsRoutes,
].map((route: Route) => ({ ...route, pattern: new RegExp(`^${route.path.replaceAll(/:(\w+)/g, "(?<$1>[^/]+)")}$`) }));

const longestBody = 10 * 1024 * 1024;

/** Answers the part of Cloudflare's API that stacks call, in its envelope. */
export async function handleCloudflare(
  request: IncomingMessage,
  response: ServerResponse,
  account: CloudflareAccount,
  now: number,
  notes: RequestNotes,
): Promise<void> {
  let status = 200;
  let answer: unknown;
  try {
    const result = await route(request, account, now, notes);
    answer = result instanceof RawAnswer ? result : { success: true, errors: [], messages: [], result };
  } catch (error) {
    if (!(error instanceof CloudflareError)) throw error;
    status = error.status;
    notes.error = String(error.code);
    answer = errorEnvelope(error.code, error.message);
  }
  const { type, body } =
    answer instanceof RawAnswer ? answer : { type: "application/json", body: JSON.stringify(answer) };
  response.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(body) }).end(body);
}

async function route(
  request: IncomingMessage,
  account: CloudflareAccount,
  now: number,
  notes: RequestNotes,
): Promise<unknown> {
  const url = new URL(request.url ?? "/", "http://localhost");
  const path = url.pathname.slice("/client/v4".length);
  const candidates = routes.filter(({ pattern }) => pattern.test(path));
  if (candidates.length === 0) throw noRoute(path);
  const found = candidates.find(({ method }) => method === request.method);
  if (found === undefined) throw new CloudflareError(405, 10405, "Method not allowed for this authentication scheme");
  notes.operation = found.name;
  const bearer = authenticate(request, account);
  notes.accessKeyId = bearer.id;
  const groups = Object.entries(found.pattern.exec(path)?.groups ?? {});
  const parameters = Object.fromEntries(groups.map(([name, value]) => [name, decodeURIComponent(value)]));
  requireAccount(parameters, account, path);
  authorize(found, bearer);
  const body = await readBody(request);
  const header = (name: string): string | undefined => request.headers[name]?.toString();
  return found.handle({ account, bearer, parameters, query: url.searchParams, header, body, now });
}

function authenticate(request: IncomingMessage, { tokens }: CloudflareAccount): AccountToken {
  const header = request.headers.authorization;
  if (header === undefined)
    throw new CloudflareError(400, 9106, "Missing X-Auth-Key, X-Auth-Email or Authorization headers");
  const [, value] = /^Bearer (\S+)$/.exec(header) ?? [];
  if (value === undefined) throw new CloudflareError(400, 6003, "Invalid request headers");
  const token = tokens.findByValue(value);
  if (token === undefined) throw new CloudflareError(403, 10000, "Authentication error");
  return token;
}

/** An id of the wrong form is no route, another account's is forbidden. */
function requireAccount({ account: id }: Record<string, string>, account: CloudflareAccount, path: string): void {
  if (id === undefined || id === account.id) return;
  if (!/^[0-9a-f]{32}$/.test(id)) throw noRoute(path);
  throw new CloudflareError(403, 10000, "Authentication error");
}

function authorize({ permissions, path }: Route, bearer: AccountToken): void {
  const groups: readonly string[] = bearer.groups ?? groupsOf(bearer.permission);
  if (permissions === undefined || permissions.some((name) => groups.includes(name))) return;
  if (path.includes("/tokens")) throw new CloudflareError(403, 9109, "Unauthorized to access requested resource");
  throw new CloudflareError(403, 10000, "Authentication error");
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > longestBody) throw invalidBody("the body is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
