import { createHash } from "node:crypto";
import { XMLParser } from "fast-xml-parser";
import { CatalogError } from "../http/errors.ts";
import type { StorageCredential } from "./credential.ts";
import { send } from "./http.ts";
import { parseLocation } from "./location.ts";
import type { StorageProfile } from "./profile.ts";
import { errorDocument, S3Client } from "./s3.ts";
import { type S3Keys, signatureHeaders } from "./signature.ts";

export interface TemporaryCredentials extends Required<S3Keys> {
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

const xml = new XMLParser({ parseTagValue: false });

export function longLivedKeys(credential: StorageCredential | null): S3Keys | undefined {
  if (credential === null) return undefined;
  return { accessKeyId: credential["access-key-id"], secretAccessKey: credential["secret-access-key"] };
}

export function s3Client(profile: StorageProfile, keys: S3Keys | undefined): S3Client {
  return new S3Client(profile.endpoint, profile.region, keys);
}

function refused(reason: string): CatalogError {
  return new CatalogError(412, "ShortTermCredentialError", `Failed to create short-term credential: ${reason}`);
}

/** What keys are for. */
export interface Grant {
  readonly location: string;
  readonly permission: "read" | "write";
}

/** The session policy of the real server: everything below the location, nothing else. */
function sessionPolicy({ location, permission }: Grant): string {
  const { bucket, key } = parseLocation(location);
  const reading = ["GetObject", "GetObjectVersion"];
  const writing = ["PutObject", "DeleteObject", "AbortMultipartUpload", "ListMultipartUploadParts"];
  const objectActions = permission === "read" ? reading : [...reading, ...writing];
  return JSON.stringify({
    Version: "2012-10-17",
    Statement: [
      {
        Sid: "TableAccess",
        Effect: "Allow",
        Action: objectActions.map((action) => `s3:${action}`),
        Resource: [`arn:aws:s3:::${bucket}/${key}/*`],
      },
      {
        Sid: "ListBucketForFolder",
        Effect: "Allow",
        Action: ["s3:ListBucket"],
        Resource: [`arn:aws:s3:::${bucket}`],
        Condition: { StringLike: { "s3:prefix": [`${key}/*`] } },
      },
      { Effect: "Allow", Action: ["s3:GetBucketLocation"], Resource: [`arn:aws:s3:::${bucket}`] },
    ],
  });
}

async function assumeRole(profile: StorageProfile, keys: S3Keys, grant: Grant): Promise<TemporaryCredentials> {
  const form = new URLSearchParams({
    Action: "AssumeRole",
    Version: "2011-06-15",
    RoleSessionName: "lakekeeper-sts",
    DurationSeconds: String(profile["sts-token-validity-seconds"]),
    Policy: sessionPolicy(grant),
  });
  const role = profile["sts-role-arn"] ?? profile["assume-role-arn"];
  if (role !== null) form.set("RoleArn", role);
  const endpoint = profile["sts-endpoint"] ?? profile.endpoint ?? `https://sts.${profile.region}.amazonaws.com/`;
  const body = form.toString();
  const request = {
    method: "POST",
    url: endpoint,
    service: "sts",
    region: profile.region,
    body,
    now: new Date(),
  } as const;
  let answer;
  try {
    const headers = { ...signatureHeaders(request, keys), "content-type": "application/x-www-form-urlencoded" };
    answer = await send("POST", endpoint, headers, body);
  } catch {
    throw refused("Failed to assume role via STS: dispatch failure");
  }
  if (answer.status !== 200) {
    const { code, message } = errorDocument(answer.body);
    throw refused(`Failed to assume role via STS: ${code}: ${message}`);
  }
  const parsed = xml.parse(answer.body.toString()) as {
    AssumeRoleResponse?: { AssumeRoleResult?: { Credentials?: Record<string, string> } };
  };
  const found = parsed.AssumeRoleResponse?.AssumeRoleResult?.Credentials;
  if (found?.["AccessKeyId"] === undefined) throw refused("STS response did not contain credentials");
  // A copy: cut out of the document, each string would keep all of it in memory for as long as it is cached.
  return structuredClone({
    accessKeyId: found["AccessKeyId"],
    secretAccessKey: found["SecretAccessKey"] ?? "",
    sessionToken: found["SessionToken"] ?? "",
    expiresAt: Date.parse(found["Expiration"] ?? ""),
  });
}

type R2Credential = Extract<StorageCredential, { "credential-type": "cloudflare-r2" }>;

async function mintR2(
  profile: StorageProfile,
  credential: R2Credential,
  { location, permission }: Grant,
  api: string,
): Promise<TemporaryCredentials> {
  const { bucket, key } = parseLocation(location);
  const ttlSeconds = profile["sts-token-validity-seconds"];
  const issuedAt = Date.now();
  const source = "Failed to get temporary credentials from Cloudflare R2";
  let status: number, reason: string, text: string;
  try {
    const answer = await send(
      "POST",
      `${api}/accounts/${credential["account-id"]}/r2/temp-access-credentials`,
      { authorization: `Bearer ${credential.token}`, "content-type": "application/json" },
      JSON.stringify({
        bucket,
        prefixes: [`${key}/`],
        permission: permission === "read" ? "object-read-only" : "object-read-write",
        ttlSeconds,
        parentAccessKeyId: credential["access-key-id"],
      }),
    );
    ({ status, reason } = answer);
    text = answer.body.toString();
  } catch (error) {
    throw refused(`${source}: error sending request for url (${api}): ${String(error)}`);
  }
  if (status < 200 || status > 299) throw refused(`${source} (${status} ${reason}): ${text}`);
  const result = (JSON.parse(text) as { result?: Partial<S3Keys> }).result;
  if (result?.accessKeyId === undefined || result.secretAccessKey === undefined || result.sessionToken === undefined)
    throw refused(`${source}: unexpected response`);
  return {
    accessKeyId: result.accessKeyId,
    secretAccessKey: result.secretAccessKey,
    sessionToken: result.sessionToken,
    expiresAt: issuedAt + ttlSeconds * 1000,
  };
}

/** True when the storage can give out temporary keys for one table. */
export function canVend(profile: StorageProfile, credential: StorageCredential | null): boolean {
  return credential !== null && profile["sts-enabled"];
}

export async function mint(
  profile: StorageProfile,
  credential: StorageCredential,
  grant: Grant,
  cloudflareApi: string,
): Promise<TemporaryCredentials> {
  return credential["credential-type"] === "cloudflare-r2"
    ? mintR2(profile, credential, grant, cloudflareApi)
    : assumeRole(
        profile,
        { accessKeyId: credential["access-key-id"], secretAccessKey: credential["secret-access-key"] },
        grant,
      );
}

const capacity = 10_000;

/** Temporary credentials by what they are for, each kept for half of its lifetime and an hour at most. */
export class CredentialCache {
  private readonly entries = new Map<string, { until: number; credentials: Promise<TemporaryCredentials> }>();
  private readonly cloudflareApi: string;

  constructor(cloudflareApi: string) {
    this.cloudflareApi = cloudflareApi;
  }

  /** Mints, or hands out what an equal request was given a while ago. Throws 412 ShortTermCredentialError. */
  vend(
    profile: StorageProfile,
    credential: StorageCredential,
    { location, permission }: Grant,
  ): Promise<TemporaryCredentials> {
    const key = createHash("sha256")
      .update(JSON.stringify([profile, credential, location, permission]))
      .digest("base64");
    const found = this.entries.get(key);
    if (found !== undefined && found.until > Date.now()) return found.credentials;
    const lifetime = Math.min(profile["sts-token-validity-seconds"] * 500, 3_600_000);
    const credentials = mint(profile, credential, { location, permission }, this.cloudflareApi);
    this.entries.delete(key);
    this.entries.set(key, { until: Date.now() + lifetime, credentials });
    const [oldest] = this.entries.keys();
    if (this.entries.size > capacity && oldest !== undefined) this.entries.delete(oldest);
    credentials.catch(() => this.entries.delete(key));
    return credentials;
  }
}
