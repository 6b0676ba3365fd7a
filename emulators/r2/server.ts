import { join } from "node:path";
import type { CloudflareAccount, Zone } from "../cloudflare/account.ts";
import { DnsRecords } from "../cloudflare/dnsRecords.ts";
import { Workers } from "../cloudflare/workers.ts";
import { Faults } from "../faults.ts";
import { openRequestLog } from "../requestLog.ts";
import { AccountTokens, type AccountToken } from "./accountTokens.ts";
import { openEndpoint, type Endpoint } from "./endpoint.ts";
import { jurisdictions, type Jurisdiction } from "./jurisdictions.ts";
import { requireBucketName } from "./operations/buckets.ts";
import { sha256 } from "./sigv4.ts";
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
  /** The account's domains, e.g. `example.com`. */
  zones?: readonly string[];
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

/** A running emulator. */
export interface R2 {
  /** E.g. `http://127.0.0.1:9000`, without a slash at the end: S3, STS and, below `/client/v4`, Cloudflare's API. */
  url: string;
  port: number;
  /** The same of each jurisdiction that has an endpoint. */
  jurisdictions: Partial<Record<Jurisdiction, string>>;
  /** The account's domains with their ids. */
  zones: readonly Zone[];
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
  const tokens = new AccountTokens(main.database, options.tokens, now);
  const workers = new Workers(main.database);
  const account: CloudflareAccount = {
    id: options.accountId,
    tokens,
    workers,
    zones: (options.zones ?? []).map((name) => zone(options.accountId, name)),
    dnsRecords: new DnsRecords(main.database),
    hasBucket: (name) => stores.some((store) => store.hasBucket(name)),
    storeOf(jurisdiction) {
      if (jurisdiction === "default") return main;
      const index = places.findIndex(({ name }) => name === jurisdiction);
      return index < 0 ? undefined : stores[1 + index];
    },
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
    await workers.close();
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
      revokeToken: (id) => void tokens.revoke(id),
      zones: account.zones,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The same id each time the same account has the domain. */
function zone(accountId: string, name: string): Zone {
  return { id: sha256(`${accountId} ${name}`).slice(0, 32), name };
}

function loopback(port: number): string {
  return `http://127.0.0.1:${port}`;
}
