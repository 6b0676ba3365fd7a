import { join } from "node:path";
import { Faults } from "../faults.ts";
import { openRequestLog } from "../requestLog.ts";
import { AccountTokens, type AccountToken } from "./accountTokens.ts";
import { openEndpoint, type Endpoint } from "./endpoint.ts";
import { requireBucketName } from "./operations/buckets.ts";
import { Store } from "./store.ts";
import { Uploads } from "./uploads.ts";

export interface R2Options extends EndpointPlace {
  /** Where buckets and objects are kept; made when absent. */
  directory: string;
  accountId: string;
  /** The account's API tokens for R2. */
  tokens: readonly AccountToken[];
  /** The jurisdictions that are to have an endpoint, beside the default one. Each has buckets of its own. */
  jurisdictions?: Partial<Record<Jurisdiction, EndpointPlace>>;
  /** Accept bodies signed chunk by chunk (STREAMING-AWS4-HMAC-SHA256-PAYLOAD), which R2 refuses. */
  signedChunks?: boolean;
  /** A file that gets one JSON line for each request. */
  requestLog?: string;
  /** How the account is to misbehave. */
  faults?: Faults;
  /** The time in milliseconds since 1970, for tests. */
  now?: () => number;
}

export interface EndpointPlace {
  /** 0 or absent: a free one. */
  port?: number;
  /** Buckets to create when they are absent. */
  buckets?: readonly string[];
}

/** R2 has another host for each: `<account id>.<jurisdiction>.r2.cloudflarestorage.com`. On loopback it is another port. */
export type Jurisdiction = (typeof jurisdictions)[number];

export const jurisdictions = ["eu", "fedramp"] as const;

/** A running emulator. */
export interface R2 {
  /** E.g. `http://127.0.0.1:9000`, without a slash at the end: S3, STS and, below `/client/v4`, Cloudflare's API. */
  url: string;
  port: number;
  /** The same of each jurisdiction that has an endpoint. */
  jurisdictions: Partial<Record<Jurisdiction, string>>;
  /** Adds an API token to the account, as a rotation of credentials does. */
  addToken(token: AccountToken): void;
  /** Revokes an API token, and with it every credential derived from it. */
  revokeToken(id: string): void;
  close(): Promise<void>;
}

/** Starts an R2 account on loopback. */
export async function startR2(options: R2Options): Promise<R2> {
  const { directory, now = Date.now, faults = new Faults(), signedChunks = false } = options;
  const log = options.requestLog === undefined ? undefined : openRequestLog(options.requestLog);
  const places = jurisdictions.flatMap((name) => {
    const place = options.jurisdictions?.[name];
    return place === undefined ? [] : [{ name, place, directory: join(directory, "jurisdictions", name) }];
  });
  const stores = await Promise.all(
    [directory, ...places.map((place) => place.directory)].map((folder) => Store.open(folder)),
  );
  const [main] = stores as [Store];
  const tokens = new AccountTokens(main.database, options.tokens);
  const account = {
    id: options.accountId,
    tokens,
    hasBucket: (name: string) => stores.some((store) => store.hasBucket(name)),
  };
  const endpoints: Endpoint[] = [];

  async function open(store: Store, { port = 0, buckets = [] }: EndpointPlace): Promise<Endpoint> {
    for (const bucket of buckets) {
      requireBucketName(bucket);
      store.createBucket(bucket, now());
    }
    const service = { account, store, uploads: new Uploads(store), signedChunks };
    const endpoint = await openEndpoint(service, { port, faults, log, now });
    endpoints.push(endpoint);
    return endpoint;
  }
  async function close(): Promise<void> {
    await Promise.all(endpoints.map((endpoint) => endpoint.close()));
    await log?.close();
    for (const store of stores) store.close();
  }
  try {
    const { port } = await open(main, options);
    const urls: Partial<Record<Jurisdiction, string>> = {};
    for (const [index, { name, place }] of places.entries())
      urls[name] = loopback((await open(stores[index + 1]!, place)).port);
    return {
      url: loopback(port),
      port,
      jurisdictions: urls,
      addToken: (token) => tokens.add(token),
      revokeToken: (id) => tokens.revoke(id),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function loopback(port: number): string {
  return `http://127.0.0.1:${port}`;
}
