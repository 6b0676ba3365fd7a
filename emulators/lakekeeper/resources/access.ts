import { createHash } from "node:crypto";
import type { Call } from "../http/call.ts";
import type { StorageCredential } from "../storage/credential.ts";
import type { StorageProfile } from "../storage/profile.ts";
import { canVend, type TemporaryCredentials } from "../storage/vending.ts";
import type { Warehouse } from "../store/warehouses.ts";
import type { StoragePermission } from "./permit.ts";

/** How a client wants to reach the files of a table: header `X-Iceberg-Access-Delegation`. */
export interface Delegation {
  readonly clientManaged: boolean;
  readonly vended: boolean;
  readonly signing: boolean;
}

/** No header (or nothing known in it) leaves the choice to the server. */
export function readDelegation(header: string | undefined): Delegation {
  const wanted = (header ?? "").split(",").map((item) => item.trim().toLowerCase());
  return {
    clientManaged: wanted.includes("client-managed"),
    vended: wanted.includes("vended-credentials"),
    signing: wanted.includes("remote-signing"),
  };
}

/** What was decided for one answer. */
interface Decision {
  readonly vend: boolean;
  readonly sign: boolean;
}

function decide(delegation: Delegation, profile: StorageProfile, credential: StorageCredential | null): Decision {
  if (delegation.clientManaged) return { vend: false, sign: false };
  const vendable = canVend(profile, credential);
  const signable = profile["remote-signing-enabled"];
  const sign = delegation.signing && signable;
  if (sign) return { vend: delegation.vended && vendable, sign };
  return vendable ? { vend: true, sign: false } : { vend: false, sign: signable };
}

type Config = Record<string, string>;

function commonConfig(profile: StorageProfile): Config {
  return {
    "s3.region": profile.region,
    "client.region": profile.region,
    ...(profile.endpoint === null ? {} : { "s3.endpoint": profile.endpoint }),
    ...(profile["path-style-access"] === true ? { "s3.path-style-access": "true" } : {}),
  };
}

function signerConfig(call: Call, warehouse: Warehouse, tableId: string): Config {
  const uri = `${call.baseUri()}/catalog/`;
  const endpoint = `v1/signer/${warehouse.id}/tabular-id/${tableId}/v1/aws/s3/sign`;
  return {
    "s3.signer": "S3V4RestSigner",
    "s3.remote-signing-enabled": "true",
    "py-io-impl": "pyiceberg.io.fsspec.FsspecFileIO",
    "s3.signer.uri": uri,
    "signer.uri": uri,
    "s3.signer.endpoint": endpoint,
    "signer.endpoint": endpoint,
  };
}

function keyConfig(keys: TemporaryCredentials): Config {
  return {
    "s3.access-key-id": keys.accessKeyId,
    "s3.secret-access-key": keys.secretAccessKey,
    "s3.session-token": keys.sessionToken,
  };
}

/** How clients reach one table, in the two forms answers carry it in. */
export interface TableAccess {
  readonly config: Config;
  readonly storageCredentials: readonly { prefix: string; config: Config }[];
  /** Until when an answer may be taken from a client's cache, in Unix milliseconds; undefined without vended keys. */
  readonly revalidateAt: number | undefined;
}

export interface AccessTarget {
  readonly id: string;
  readonly location: string;
  /** Path of the table below the warehouse, percent-encoded. */
  readonly path: string;
  /** What vended keys may do. */
  readonly permission: StoragePermission;
}

export function tablePath(namespace: readonly string[], table: string): string {
  return `namespaces/${encodeURIComponent(namespace.join("\u001f"))}/tables/${encodeURIComponent(table)}`;
}

/** Throws 412 ShortTermCredentialError when keys cannot be minted and 500 SecretFetchError. */
export async function tableAccess(
  call: Call,
  warehouse: Warehouse,
  target: AccessTarget,
  delegation: Delegation,
): Promise<TableAccess> {
  const { secrets, credentials } = call.catalog;
  const { profile } = warehouse;
  const credential = delegation.clientManaged ? null : await secrets.read(warehouse.secretId);
  const decision = decide(delegation, profile, credential);
  const keys = decision.vend && credential !== null ? await credentials.vend(profile, credential, target) : undefined;
  const common = commonConfig(profile);
  const vended = keys === undefined ? {} : keyConfig(keys);
  const expiry =
    keys === undefined
      ? {}
      : {
          "s3.session-token-expires-at-ms": String(keys.expiresAt),
          "expiration-time": String(keys.expiresAt),
          "client.refresh-credentials-endpoint": `${call.baseUri()}/catalog/v1/${warehouse.id}/${target.path}/credentials`,
        };
  return {
    config: {
      ...common,
      region: profile.region,
      ...vended,
      ...(decision.sign ? signerConfig(call, warehouse, target.id) : {}),
    },
    storageCredentials: [{ prefix: target.location, config: { ...common, ...vended, ...expiry } }],
    revalidateAt: keys === undefined ? undefined : Math.min(Date.now() + serveMilliseconds(profile), keys.expiresAt),
  };
}

function serveMilliseconds(profile: StorageProfile): number {
  return Math.min(profile["sts-token-validity-seconds"] * 500, 3_600_000);
}

function tagHash(metadataLocation: string): string {
  return createHash("sha256").update(metadataLocation).digest("hex").slice(0, 16);
}

/** `"lk1.<hash of the metadata location>[.<revalidate at, hex milliseconds>]"`. */
export function entityTag(metadataLocation: string, revalidateAt?: number): string {
  const suffix = revalidateAt === undefined ? "" : `.${revalidateAt.toString(16)}`;
  return `"lk1.${tagHash(metadataLocation)}${suffix}"`;
}

/** True when the client's copy is of the same metadata and the keys in it, if it should have any, are still fresh. */
export function stillFresh(ifNoneMatch: string | undefined, metadataLocation: string, needsKeys: boolean): boolean {
  const tags = (ifNoneMatch ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, "").replace(/^"|"$/g, ""));
  return tags.some((tag) => {
    const [version, hash, revalidate] = tag.split(".");
    if (version !== "lk1" || hash !== tagHash(metadataLocation)) return false;
    return !needsKeys || (revalidate !== undefined && Number.parseInt(revalidate, 16) > Date.now());
  });
}
