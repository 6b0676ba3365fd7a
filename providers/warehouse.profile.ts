import { createHmac } from "node:crypto";
import type { WireDeleteProfile, WireStorageProfile } from "../clients/lakekeeper.ts";

/** Where a warehouse keeps its tables: a bucket of R2, or of another store that speaks S3. */
export interface StorageProfile {
  /** Name of the bucket. Cannot change. */
  readonly bucket: string;
  /** Every table must lie below it; without one the whole bucket is the warehouse's. Cannot change. */
  readonly keyPrefix?: string | undefined;
  /** `auto` for R2. */
  readonly region: string;
  /** URL of the S3 API, without the bucket. */
  readonly endpoint: string;
  /** @default true */
  readonly pathStyleAccess?: boolean | undefined;
  /** Lifetime of vended credentials, 1 to 604800 seconds. @default 3600 */
  readonly stsTokenValiditySeconds?: number | undefined;
  /** @default false */
  readonly remoteSigningEnabled?: boolean | undefined;
  /** With R2 `auto` takes the account in the host name for a bucket. @default "path" */
  readonly remoteSigningUrlStyle?: "auto" | "path" | "virtual_host" | undefined;
  /** Accept s3a:// and s3n:// locations. @default false */
  readonly allowAlternativeProtocols?: boolean | undefined;
  /** With a soft delete profile, tell clients not to delete files themselves. @default true */
  readonly pushS3DeleteDisabled?: boolean | undefined;
}

/** The keys that Lakekeeper itself reaches the bucket with and mints vended credentials from. */
export type StorageCredential =
  | {
      readonly type: "cloudflare-r2";
      readonly accountId: string;
      /** Id of the account API token. */
      readonly accessKeyId: string;
      /** SHA-256 of the token's value, in hex. */
      readonly secretAccessKey: string;
      /** The token's value; it needs Admin Read & Write to mint temporary credentials. */
      readonly token: string;
    }
  | { readonly type: "access-key"; readonly accessKeyId: string; readonly secretAccessKey: string };

/** What happens to a dropped table: gone at once, or recoverable for a while. */
export type DeleteProfile =
  | { readonly type: "hard" }
  | { readonly type: "soft"; /** Seconds until it is gone. */ readonly expirationSeconds: number };

/** A storage profile with every default filled in and every spelling made one. */
export type NormalProfile = Required<{ [Key in keyof StorageProfile]: NonNullable<StorageProfile[Key]> }>;

export function normalProfile(profile: StorageProfile): NormalProfile {
  return {
    bucket: profile.bucket,
    keyPrefix: trimSlashes(profile.keyPrefix ?? ""),
    region: profile.region,
    endpoint: normalEndpoint(profile.endpoint, profile.bucket),
    pathStyleAccess: profile.pathStyleAccess ?? true,
    stsTokenValiditySeconds: profile.stsTokenValiditySeconds ?? 3600,
    remoteSigningEnabled: profile.remoteSigningEnabled ?? false,
    remoteSigningUrlStyle: profile.remoteSigningUrlStyle ?? "path",
    allowAlternativeProtocols: profile.allowAlternativeProtocols ?? false,
    pushS3DeleteDisabled: profile.pushS3DeleteDisabled ?? true,
  };
}

/** Undefined for a warehouse that is not on S3. Absent values stand for the server's own defaults. */
export function profileFromWire(wire: WireStorageProfile): NormalProfile | undefined {
  if (wire.type !== "s3" || wire.bucket === undefined) return undefined;
  return {
    bucket: wire.bucket,
    keyPrefix: trimSlashes(wire["key-prefix"] ?? ""),
    region: wire.region ?? "",
    endpoint: wire.endpoint ? normalEndpoint(wire.endpoint, wire.bucket) : "",
    pathStyleAccess: wire["path-style-access"] ?? false,
    stsTokenValiditySeconds: wire["sts-token-validity-seconds"] ?? 3600,
    remoteSigningEnabled: wire["remote-signing-enabled"] ?? true,
    remoteSigningUrlStyle: (wire["remote-signing-url-style"] ?? "auto") as NormalProfile["remoteSigningUrlStyle"],
    allowAlternativeProtocols: wire["allow-alternative-protocols"] ?? false,
    pushS3DeleteDisabled: wire["push-s3-delete-disabled"] ?? true,
  };
}

export function profileToWire(profile: StorageProfile): Record<string, unknown> {
  const normal = normalProfile(profile);
  return {
    type: "s3",
    bucket: normal.bucket,
    ...(normal.keyPrefix === "" ? {} : { "key-prefix": normal.keyPrefix }),
    region: normal.region,
    endpoint: normal.endpoint,
    flavor: "s3-compat",
    "path-style-access": normal.pathStyleAccess,
    // Lakekeeper asks for the field even where a credential type forces it.
    "sts-enabled": true,
    "sts-token-validity-seconds": normal.stsTokenValiditySeconds,
    "remote-signing-enabled": normal.remoteSigningEnabled,
    "remote-signing-url-style": normal.remoteSigningUrlStyle,
    "allow-alternative-protocols": normal.allowAlternativeProtocols,
    "push-s3-delete-disabled": normal.pushS3DeleteDisabled,
  };
}

export function credentialToWire(credential: StorageCredential): Record<string, string> {
  const keys = { "access-key-id": credential.accessKeyId, "secret-access-key": credential.secretAccessKey };
  return credential.type === "access-key"
    ? { type: "s3", "credential-type": "access-key", ...keys }
    : {
        type: "s3",
        "credential-type": "cloudflare-r2",
        "account-id": credential.accountId,
        ...keys,
        token: credential.token,
      };
}

/** Tells whether a credential is the one last stored, without revealing it: Lakekeeper never gives it back. */
export function credentialHash(credential: StorageCredential): string {
  const canonical = JSON.stringify(Object.entries(credentialToWire(credential)).sort());
  return createHmac("sha256", "lakekeeper-stack storage credential").update(canonical).digest("hex");
}

export function deleteProfileToWire(profile: DeleteProfile = { type: "hard" }): WireDeleteProfile {
  return profile.type === "hard" ? profile : { type: "soft", "expiration-seconds": profile.expirationSeconds };
}

export function deleteProfileFromWire(wire: WireDeleteProfile): DeleteProfile {
  return wire.type === "hard" ? { type: "hard" } : { type: "soft", expirationSeconds: wire["expiration-seconds"] };
}

/** `s3://bucket`, or `s3://bucket/prefix`: every table lies strictly below it. */
export function locationOf({ bucket, keyPrefix }: NormalProfile): string {
  return keyPrefix === "" ? `s3://${bucket}` : `s3://${bucket}/${keyPrefix}`;
}

/** The fields that Lakekeeper never changes, with their values when two profiles differ in them. */
export function immutableDifferences(
  before: StorageProfile,
  after: StorageProfile,
): { field: "bucket" | "keyPrefix"; from: string; to: string }[] {
  const [from, to] = [normalProfile(before), normalProfile(after)];
  return (["bucket", "keyPrefix"] as const)
    .filter((field) => from[field] !== to[field])
    .map((field) => ({ field, from: from[field], to: to[field] }));
}

/** Without the trailing slash and the bucket, both of which Lakekeeper takes or adds. */
function normalEndpoint(endpoint: string, bucket: string): string {
  const url = new URL(endpoint);
  const path = trimSlashes(url.pathname);
  return url.origin + (path === "" || path === bucket ? "" : `/${path}`);
}

function trimSlashes(path: string): string {
  return path.replace(/^\/+|\/+$/g, "");
}
