import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import createRouter from "find-my-way";
import type { AuthenticatorChain } from "../auth/chain.ts";
import type { Catalog } from "../catalog.ts";
import { log } from "../log.ts";
import { type Answer, Call, type Route } from "./call.ts";
import { CatalogError, notModelled, PlainTextError } from "./errors.ts";
import { stringifyJson } from "./json.ts";

type Router = ReturnType<typeof createRouter>;
type Method = Parameters<Router["find"]>[0];

function buildRouter(routes: readonly Route[]): Router {
  const router = createRouter({ maxParamLength: 8192 });
  for (const route of routes) router.on(route.method, route.path, () => undefined, route);
  return router;
}

async function readText(request: IncomingMessage, limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) throw new PlainTextError(413, "Failed to buffer the request body: length limit exceeded");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function toAnswer(error: unknown): Answer {
  if (error instanceof CatalogError)
    return { status: error.status, body: error.body(), headers: { "content-type": "application/json" } };
  if (error instanceof PlainTextError)
    return { status: error.status, body: error.message, headers: { "content-type": "text/plain; charset=utf-8" } };
  log("ERROR", "lakekeeper", "Unexpected error", {
    details: error instanceof Error ? (error.stack ?? error.message) : String(error),
  });
  return toAnswer(new CatalogError(500, "CatalogBackendError", "Catalog backend error"));
}

function send(response: ServerResponse, answer: Answer, withBody: boolean): void {
  const body = typeof answer.body === "object" ? stringifyJson(answer.body) : (answer.body ?? "");
  response.writeHead(answer.status, {
    ...answer.headers,
    ...(answer.status === 204 || answer.status === 304 ? {} : { "content-length": Buffer.byteLength(body) }),
  });
  response.end(withBody ? body : undefined);
}

/** Authentication comes before routing, as in the real server: an unknown route is 401 without a token and 404 with one. */
export function createListener(
  catalog: Catalog,
  routes: readonly Route[],
  authenticator: AuthenticatorChain | undefined,
): RequestListener {
  const router = buildRouter(routes);
  const methods: Method[] = ["GET", "POST", "DELETE", "HEAD"];

  async function answer(request: IncomingMessage): Promise<Answer> {
    const [path = "/", search = ""] = (request.url ?? "/").split(/\?(.*)/s);
    const needsIdentity = authenticator !== undefined && /^\/(management|catalog)(\/|$)/.test(path);
    const identity = needsIdentity ? await authenticator.authenticate(request.headers.authorization) : undefined;
    if (catalog.authorizer !== undefined && request.headers["x-assume-role"] !== undefined) throw notModelled("roles");
    const found =
      router.find((request.method ?? "GET") as Method, path) ??
      (request.method === "HEAD" ? router.find("GET", path) : null);
    if (found === null) {
      const allowed = methods.filter((method) => router.find(method, path) !== null);
      return allowed.length === 0 ? { status: 404 } : { status: 405, headers: { allow: allowed.join(",") } };
    }
    const text = await readText(request, catalog.settings.maxBodyBytes);
    const route = found.store as Route;
    return route.handle(new Call(catalog, found.params, new URLSearchParams(search), request.headers, identity, text));
  }

  return (request, response) => {
    answer(request)
      .catch(toAnswer)
      .then((result) => send(response, result, request.method !== "HEAD"))
      .catch((error: unknown) => {
        log("ERROR", "lakekeeper", "Answer could not be sent", { details: String(error) });
        response.destroy();
      });
  };
}
