import { createServer, STATUS_CODES, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Faults, type FailureOf } from "../faults.ts";
import { openRequestLog, type RequestNotes } from "../requestLog.ts";
import { callerOf } from "./access.ts";
import { Account, type Delays } from "./account.ts";
import { admin, liveObjects, type Call, type LiveObjects } from "./admin.ts";
import type { Lookup } from "./customDomains.ts";
import { Deployments } from "./deployments.ts";
import { answer, operationOf, railwaySchema, readRequest } from "./graphql.ts";
import { Network } from "./network.ts";
import { RateLimit, type RateLimits, type RateLimitState } from "./rateLimit.ts";
import { Removal, type RemoveData } from "./removal.ts";
import { resolversOf } from "./resolvers/index.ts";
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
  /** What the DNS says, where custom domains are looked for. */
  readonly lookup?: Lookup;
  /** Calls beyond these get a 429. */
  readonly rateLimits?: RateLimits;
  /** A file that gets one JSON line for each request. */
  readonly requestLog?: string;
}

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
  const parts = {
    account,
    network,
    deployments,
    removal,
    views: new Views(account, deployments),
    lookup: options.lookup,
  };
  const resolvers = resolversOf(parts);
  const schema = railwaySchema();
  const { token, workspaceToken } = options;
  const limit = new RateLimit(options.rateLimits ?? {});
  const calls: Call[] = [];
  let [now, most] = [0, 0];

  async function graphql(request: IncomingMessage, response: ServerResponse, notes: RequestNotes): Promise<void> {
    const asked = readRequest(await bodyOf(request));
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

  async function serve(request: IncomingMessage, response: ServerResponse, notes: RequestNotes): Promise<void> {
    if (request.method === "POST" && request.url?.split("?")[0] === PATH) return graphql(request, response, notes);
    const parts = { store, faults, calls, mostAtOnce: most };
    const told = await admin(parts, request, () => bodyOf(request));
    send(response, told?.status ?? 404, told?.body ?? { errors: [{ message: "Not Found" }] });
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
    serve(request, response, notes).catch((error: unknown) =>
      send(response, 400, { errors: [{ message: String(error) }] }),
    );
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
