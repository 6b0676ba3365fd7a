import { CatalogError } from "../http/errors.ts";
import { boolean, mapOf, maybe, oneOf, optional, type Shaped, string, struct, tagged, u64 } from "../http/shape.ts";
import type { StorageCredential } from "./credential.ts";

const s3Profile = struct("S3Profile", {
  bucket: string,
  "key-prefix": maybe(string),
  "assume-role-arn": maybe(string),
  endpoint: maybe(string),
  region: string,
  "path-style-access": maybe(boolean),
  "sts-role-arn": maybe(string),
  "sts-endpoint": maybe(string),
  "sts-enabled": boolean,
  "sts-token-validity-seconds": optional(u64, 3600),
  "sts-session-tags": optional(mapOf(string), {}),
  flavor: optional(oneOf("aws", "s3-compat", "minio"), "aws"),
  "allow-alternative-protocols": maybe(boolean),
  "remote-signing-url-style": {
    ...optional(oneOf("path", "virtual_host", "auto"), "auto"),
    aliases: ["s3-url-detection-mode"],
  },
  "push-s3-delete-disabled": optional(boolean, true),
  "aws-kms-key-arn": maybe(string),
  "remote-signing-enabled": optional(boolean, true),
  "legacy-md5-behavior": maybe(boolean),
  "storage-layout": maybe((value) => value),
});

/** Where a warehouse keeps its tables, as a request gives it and, normalised, as answers show it. */
export const storageProfile = tagged("type", { s3: s3Profile });
export type StorageProfile = Shaped<typeof storageProfile>;

/** `s3://bucket[/key-prefix]`, without a trailing slash. */
export function baseLocation(profile: StorageProfile): string {
  return `s3://${profile.bucket}${profile["key-prefix"] === null ? "" : `/${profile["key-prefix"]}`}`;
}

function checkBucket(bucket: string): void {
  const problem = !/^[a-z0-9.-]*$/.test(bucket)
    ? "Bucket name can consist only of lowercase letters, numbers, dots (.), and hyphens (-)."
    : bucket.length < 3 || bucket.length > 63
      ? "Bucket name must be between 3 and 63 characters long."
      : !/^[a-z0-9].*[a-z0-9]$/.test(bucket)
        ? "Bucket name must begin and end with a letter or number."
        : undefined;
  if (problem !== undefined)
    throw new CatalogError(
      400,
      "InvalidLocation",
      `Invalid location \`s3://${bucket}\`. Context: []. Source: Invalid bucket name \`${bucket}\`: ${problem}`,
    );
}

/** The endpoint with a single trailing slash; a path is only allowed when it is the bucket, which is taken off. */
function normalEndpoint(endpoint: string, bucket: string): string {
  let url: URL;
  try {
    url = new URL(endpoint);
  } catch {
    throw new CatalogError(400, "InvalidS3Endpoint", `Storage Profile \`endpoint\` is not a valid URL: ${endpoint}`);
  }
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new CatalogError(400, "InvalidS3Endpoint", "Storage Profile `endpoint` must have http or https protocol.");
  const path = url.pathname.replace(/^\/+|\/+$/g, "");
  if (path !== "" && path !== bucket)
    throw new CatalogError(400, "InvalidS3Endpoint", "Storage Profile `endpoint` must not have a path.");
  return `${url.origin}/`;
}

/**
 * Checks a profile without touching the storage and brings it into the form in which it is kept: defaults filled in,
 * slashes trimmed, and what a Cloudflare R2 credential implies.
 */
export function normaliseProfile(profile: StorageProfile, credential: StorageCredential | null): StorageProfile {
  checkBucket(profile.bucket);
  if (profile.region.length > 128)
    throw new CatalogError(400, "InvalidRegion", "Storage Profile `region` must be at most 128 characters long.");
  const prefix = (profile["key-prefix"] ?? "").replace(/^\/+|\/+$/g, "");
  if (prefix.length >= 896)
    throw new CatalogError(400, "InvalidKeyPrefix", "Storage Profile `key-prefix` must be less than 896 characters.");
  const r2 = credential?.["credential-type"] === "cloudflare-r2";
  if (r2 && profile.endpoint === null)
    throw new CatalogError(400, "Invalidendpoint", "Parameter `endpoint` is required for Cloudflare R2.");
  return {
    ...profile,
    "key-prefix": prefix === "" ? null : prefix,
    endpoint: profile.endpoint === null ? null : normalEndpoint(profile.endpoint, profile.bucket),
    flavor: r2 || profile.flavor === "minio" ? "s3-compat" : profile.flavor,
    ...(r2 ? { "sts-enabled": true, "sts-role-arn": null, "assume-role-arn": null } : {}),
  };
}

/** Refuses to move a warehouse away from its tables. */
export function checkProfileUpdate(current: StorageProfile, next: StorageProfile): void {
  const frozen: (keyof StorageProfile)[] = [
    "bucket",
    "key-prefix",
    ...(next.endpoint === null ? ["region" as const] : []),
  ];
  for (const field of frozen)
    if (current[field] !== next[field]) {
      const name = field.replaceAll("-", "_");
      throw new CatalogError(400, "UpdateError", `Field \`${name}\` cannot be updated to prevent loss of data.`);
    }
}

/** Settings that stay as they were when an update leaves them out. */
export function keepSticky(current: StorageProfile, next: StorageProfile): StorageProfile {
  return {
    ...next,
    "allow-alternative-protocols": next["allow-alternative-protocols"] ?? current["allow-alternative-protocols"],
    "storage-layout": next["storage-layout"] ?? current["storage-layout"],
  };
}

/** True when one of the two places contains the other. */
export function profilesOverlap(one: StorageProfile, other: StorageProfile): boolean {
  if (one.bucket !== other.bucket || one.region !== other.region || one.endpoint !== other.endpoint) return false;
  const [a, b] = [`${baseLocation(one)}/`, `${baseLocation(other)}/`];
  return a.startsWith(b) || b.startsWith(a);
}
