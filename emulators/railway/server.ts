import { createServer, STATUS_CODES, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Faults, type FailureOf } from "../faults.ts";
import { openRequestLog, type RequestNotes } from "../requestLog.ts";
import { callerOf } from "./access.ts";
import { Account, type Delays } from "./account.ts";
import { Deployments } from "./deployments.ts";
import { notAuthorized } from "./errors.ts";
import { answer, operationOf, railwaySchema, type GraphqlRequest } from "./graphql.ts";
import type { Kinds } from "./model.ts";
import { Network } from "./network.ts";
import { RateLimit, type RateLimits, type RateLimitState } from "./rateLimit.ts";
import { Removal, type RemoveData } from "./removal.ts";
import { deployments as deploymentResolvers } from "./resolvers/deployments.ts";
import { environments } from "./resolvers/environments.ts";
import { networking } from "./resolvers/networking.ts";
import { patches } from "./resolvers/patches.ts";
import { projects } from "./resolvers/projects.ts";
import type { Parts, Resolver, RootResolver } from "./resolvers/resolvers.ts";
import { services } from "./resolvers/services.ts";
import { tokens as tokenResolvers } from "./resolvers/tokens.ts";
import { variables } from "./resolvers/variables.ts";
import { volumes } from "./resolvers/volumes.ts";
import type { Runtime } from "./runtime.ts";
import { Store } from "./store.ts";
import { Views } from "./views.ts";

export interface RailwayOptions {
  /** Where the account is kept; made when absent. */
  readonly directory: string;
  /** Loopback port; 0 or absent for a free one. */
  readonly port?: number;
  /** Of an account, which may do everything. */
  readonly token: string;
  readonly workspaceToken?: string;
  readonly workspaceId: string;
  readonly runtime: Runtime;
  readonly removeData: RemoveData;
  /** Milliseconds that things take. */
  readonly delays?: Partial<Delays>;
  readonly faults?: Faults;
  /** Calls beyond these get a 429. */
  readonly rateLimits?: RateLimits;
  /** A file that gets one JSON line for each request. */
  readonly requestLog?: string;
}

/** A call of the API. */
export interface Call {
  /** Its root fields, joined by commas. */
  readonly operation: string;
  readonly at: number;
}

/** Names of what an account holds that is not deleted, by kind. */
export type LiveObjects = Readonly<
  Record<keyof Pick<Kinds, "projects" | "services" | "volumes" | "domains" | "tcpProxies">, string[]>
>;

/** A running emulator. */
export interface Railway {
  /** Of the GraphQL API. */
  readonly url: string;
  readonly port: number;
  readonly account: Account;
  readonly faults: Faults;
  readonly calls: Call[];
  /** The most calls that were being answered at a time. */
  readonly mostAtOnce: number;
  liveObjects(): LiveObjects;
  /** As once the DNS records of a custom domain are there. */
  verifyDomain(domain: string): void;
  /** Containers go on running unless `stop`. */
  close(options?: { stop?: boolean }): Promise<void>;
}

const PATH = "/graphql/v2";
const TOO_MANY = "Rate limit exceeded";
const DELAYS: Delays = {
  visible: 200,
  backup: 500,
  second: 1_000,
  restart: 500,
  volumeDeletion: 1_000,
  projectDeletion: 1_000,
  probe: 200,
};

/** Starts a Railway account on loopback. */
export async function startRailway(options: RailwayOptions): Promise<Railway> {
  const { directory, runtime, faults = new Faults() } = options;
  const log = options.requestLog === undefined ? undefined : openRequestLog(options.requestLog);
  const store = new Store(directory);
  const account = new Account(store, options.workspaceId, { ...DELAYS, ...options.delays });
  const network = new Network(account);
  const deployments = new Deployments(account, runtime, network, directory);
  const removal = new Removal(account, deployments, network, options.removeData);
  const parts = { account, network, deployments, removal, views: new Views(account, deployments) };
  const resolvers = resolversOf(parts);
  const schema = railwaySchema();
  const { token, workspaceToken } = options;
  const limit = new RateLimit(options.rateLimits ?? {});
  const calls: Call[] = [];
  let [now, most] = [0, 0];

  async function graphql(request: IncomingMessage, response: ServerResponse, notes: RequestNotes): Promise<void> {
    const asked = JSON.parse(await bodyOf(request)) as GraphqlRequest;
    const operation = operationOf(asked);
    calls.push({ operation, at: Date.now() });
    most = Math.max(most, (now += 1));
    response.once("close", () => (now -= 1));
    notes.operation = operation;
    // Faults are told apart by the operation, which the path alone does not say.
    request.url = `${PATH}/${operation}`;
    faults.apply(request, response, failureOf(response), () => {
      const caller = callerOf(request.headers, {
        account: token,
        ...(workspaceToken !== undefined && { workspace: workspaceToken }),
        project: store.list("projectTokens"),
      });
      const state = limit.take(Date.now());
      if (state !== undefined && !isWithin(state, response)) {
        send(response, 429, { errors: [{ message: TOO_MANY }], data: null });
        return;
      }
      answer(schema, resolvers, asked, caller).then(
        ({ status, body }) => send(response, status, body),
        (error: unknown) => send(response, 500, { errors: [{ message: String(error) }] }),
      );
    });
  }

  const railway = {
    account,
    faults,
    calls,
    get mostAtOnce() {
      return most;
    },
    liveObjects: () => liveObjects(store),
    verifyDomain(name: string) {
      for (const one of store.list("domains")) {
        if (one.domain === name) store.save("domains", Object.assign(one, { isVerified: true }));
      }
    },
  };

  const server = createServer((request, response) => {
    const notes: RequestNotes = {};
    log?.follow(request, response, notes);
    const path = (request.url ?? "/").split("?")[0];
    if (request.method === "POST" && path === PATH) {
      graphql(request, response, notes).catch((error: unknown) =>
        send(response, 400, { errors: [{ message: String(error) }] }),
      );
    } else if (path === "/-/health") send(response, 200, { health: "ok" });
    else if (path === "/-/objects") send(response, 200, liveObjects(store));
    else if (path === "/-/faults" && request.method === "PUT") {
      bodyOf(request).then(
        (lines) => {
          faults.clear();
          for (const line of lines.split("\n").filter((text) => text.trim() !== "")) faults.add(line);
          send(response, 200, {});
        },
        (error: unknown) => send(response, 400, { errors: [{ message: String(error) }] }),
      );
    } else if (path === "/-/calls")
      send(response, 200, { calls: calls.length, mostAtOnce: most, operations: counts(calls) });
    else send(response, 404, { errors: [{ message: "Not Found" }] });
  });
  await network.resume();
  deployments.resume();
  removal.resume();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(options.port ?? 0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return Object.assign(railway, {
    url: `http://127.0.0.1:${port}${PATH}`,
    port,
    async close({ stop = false } = {}) {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      await removal.close();
      const closed = deployments.close();
      await runtime.close({ stop });
      await closed;
      network.close();
      store.close();
      await log?.close();
    },
  });
}

/** Root fields as the execution calls them: with their arguments and whoever asks. */
function resolversOf(parts: Parts): Record<string, RootResolver> {
  const groups = [
    tokenResolvers,
    projects,
    environments,
    services,
    variables,
    volumes,
    networking,
    deploymentResolvers,
    patches,
  ];
  const resolvers = Object.assign({}, ...groups.map((group) => group(parts))) as Record<string, Resolver>;
  const { store } = parts.account;
  return Object.fromEntries(
    Object.entries(resolvers).map(([name, resolve]): [string, RootResolver] => [
      name,
      (args, caller) => {
        if (caller === undefined) throw notAuthorized("UNAUTHENTICATED");
        return store.atomically(() => resolve(args, caller));
      },
    ]),
  );
}

function liveObjects(store: Store): LiveObjects {
  const pending = new Set(
    store
      .list("volumeInstances")
      .filter((one) => one.deletionAt !== null)
      .map((one) => one.volumeId),
  );
  return {
    projects: store
      .list("projects")
      .filter(({ deletionAt }) => deletionAt === null)
      .map(({ name }) => name),
    services: store.list("services").map(({ name }) => name),
    volumes: store
      .list("volumes")
      .filter(({ id }) => !pending.has(id))
      .map(({ name }) => name),
    domains: store.list("domains").map(({ domain }) => domain),
    tcpProxies: store.list("tcpProxies").map(({ applicationPort }) => String(applicationPort)),
  };
}

function counts(calls: readonly Call[]): Record<string, number> {
  const found: Record<string, number> = {};
  for (const { operation } of calls) found[operation] = (found[operation] ?? 0) + 1;
  return found;
}

/** How Railway fails: its edge with a page, itself with an error that says nothing, its limits with a time to wait. */
function failureOf(response: ServerResponse): FailureOf {
  return (status) => {
    if (status === 429) response.setHeader("retry-after", "1");
    if (status >= 500)
      return { type: "text/html", body: `<html><body>${status} ${STATUS_CODES[status] ?? ""}</body></html>` };
    const message = status === 429 ? TOO_MANY : "Problem processing request";
    const errors = [{ message, extensions: { code: "INTERNAL_SERVER_ERROR" } }];
    return { type: "application/json", body: JSON.stringify({ errors, data: null }) };
  };
}

/** Tells the caller how much is left, and how long to wait when nothing is. */
function isWithin({ limit, remaining, reset }: RateLimitState, response: ServerResponse): boolean {
  response.setHeader("x-ratelimit-limit", limit);
  response.setHeader("x-ratelimit-remaining", Math.max(0, remaining));
  response.setHeader("x-ratelimit-reset", Math.ceil(reset / 1_000));
  if (remaining >= 0) return true;
  response.setHeader("retry-after", Math.ceil((reset - Date.now()) / 1_000));
  return false;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function send(response: ServerResponse, status: number, body: object): void {
  if (response.writableEnded) return;
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
