import { randomBytes } from "node:crypto";
import { secretAccessKey, tokenGrants, type AccountToken, type AccountTokens } from "./accountTokens.ts";
import { S3Error } from "./errors.ts";
import { bucketsGrant, isPermission, operationsGrant, pathsGrant, permissionGrant, type Grant } from "./permissions.ts";
import { policyGrant } from "./policy.ts";
import { isSignedWith, readJwt, signJwt } from "./sessionToken.ts";
import { sha256 } from "./sigv4.ts";

/*
 * R2's temporary credentials carry everything in the session token: a JWT signed with the parent's secret access key,
 * whose own SHA-256 is the temporary secret ("Temporary credentials" in R2's documentation). So nothing has to be
 * stored, they survive a restart, and they die with their parent. A person may sign one without asking anybody.
 */

export interface TemporaryCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string;
  expires: Date;
}

/** What a temporary credential may do, always within what its parent may. */
export type Scope =
  | {
      bucket: string;
      scope?: string;
      actions?: string[];
      paths?: { prefixPaths?: string[]; objectPaths?: string[] };
    }
  /** A session of AssumeRole: without a policy it may do all that its parent may. Not known to the real R2. */
  | { roleSession: string; policy?: string };

export interface Account {
  id: string;
  tokens: AccountTokens;
  /** Whether there is such a bucket, in whatever jurisdiction. */
  hasBucket(name: string): boolean;
}

export function mint(
  account: Account,
  parent: AccountToken,
  scope: Scope,
  ttlSeconds: number,
  now: number,
): TemporaryCredentials {
  const accessKeyId = randomBytes(16).toString("hex");
  const iat = Math.floor(now / 1000);
  const exp = iat + ttlSeconds;
  const registered = { sub: account.id, iss: parent.id, aud: endpointHost(account), jti: accessKeyId, iat, exp };
  const jwt = signJwt({ ...scope, ...registered }, secretAccessKey(parent));
  return {
    accessKeyId,
    secretAccessKey: sha256(jwt),
    sessionToken: Buffer.from(`jwt/${jwt}`).toString("base64"),
    expires: new Date(exp * 1000),
  };
}

/**
 * The secret and the rights that a session token gives to an access key.
 *
 * @param host what the request was sent to: credentials signed by hand name it as their audience
 * @throws S3Error InvalidToken, ExpiredToken, or Unauthorized when the parent is unknown or revoked
 */
export function openSession(
  account: Account,
  accessKeyId: string,
  sessionToken: string,
  host: string,
  now: number,
): { secret: string; grants: Grant[] } {
  const text = Buffer.from(sessionToken, "base64").toString();
  const jwt = text.slice("jwt/".length);
  const claims = text.startsWith("jwt/") ? readJwt(jwt) : undefined;
  if (claims === undefined) throw new S3Error("InvalidToken");
  const { iss, sub, aud, exp, jti = iss } = claims;
  const parent = account.tokens.find(String(iss));
  if (parent === undefined) throw new S3Error("Unauthorized");
  const isOurs = sub === account.id && (aud === host || aud === endpointHost(account));
  // Those signed by hand use the parent's access key id, those of the API have one of their own: the token's id.
  if (!isSignedWith(jwt, secretAccessKey(parent)) || !isOurs || typeof exp !== "number" || jti !== accessKeyId) {
    throw new S3Error("InvalidToken");
  }
  if (exp * 1000 <= now) throw new S3Error("ExpiredToken");
  return { secret: sha256(jwt), grants: [...tokenGrants(parent), ...scopeGrants(claims)] };
}

function scopeGrants(claims: Record<string, unknown>): Grant[] {
  const { roleSession, policy } = claims as Partial<Extract<Scope, { roleSession: string }>>;
  if (roleSession !== undefined) return policy === undefined ? [] : [policyGrant(policy)];
  const { bucket, scope, actions, paths } = claims as Partial<Extract<Scope, { bucket: string }>>;
  const isGranted = scope !== undefined || (actions !== undefined && actions.length > 0);
  if (bucket === undefined || !isGranted || (scope !== undefined && !isPermission(scope)))
    throw new S3Error("InvalidToken");
  const grants = [bucketsGrant([bucket])];
  if (scope !== undefined) grants.push(permissionGrant(scope));
  if (actions !== undefined && actions.length > 0) grants.push(operationsGrant(actions));
  const prefixes = paths?.prefixPaths ?? [];
  const objects = paths?.objectPaths ?? [];
  if (prefixes.length + objects.length > 0) grants.push(pathsGrant(prefixes, objects));
  return grants;
}

function endpointHost(account: Account): string {
  return `${account.id}.r2.cloudflarestorage.com`;
}
