import { randomBytes } from "node:crypto";
import { errors, jwtVerify, SignJWT, decodeJwt } from "jose";
import { secretAccessKey, tokenGrants, type AccountToken, type AccountTokens } from "./accountTokens.ts";
import { S3Error } from "./errors.ts";
import { bucketsGrant, isPermission, operationsGrant, pathsGrant, permissionGrant, type Grant } from "./permissions.ts";
import { policyGrant } from "./policy.ts";
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
}

export async function mint(
  account: Account,
  parent: AccountToken,
  scope: Scope,
  ttlSeconds: number,
  now: number,
): Promise<TemporaryCredentials> {
  const accessKeyId = randomBytes(16).toString("hex");
  const issuedAt = Math.floor(now / 1000);
  const jwt = await new SignJWT({ ...scope })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .setSubject(account.id)
    .setIssuer(parent.id)
    .setAudience(endpointHost(account))
    .setJti(accessKeyId)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + ttlSeconds)
    .sign(new TextEncoder().encode(secretAccessKey(parent)));
  return {
    accessKeyId,
    secretAccessKey: sha256(jwt),
    sessionToken: Buffer.from(`jwt/${jwt}`).toString("base64"),
    expires: new Date((issuedAt + ttlSeconds) * 1000),
  };
}

/**
 * The secret and the rights that a session token gives to an access key.
 *
 * @param host what the request was sent to: credentials signed by hand name it as their audience
 * @throws S3Error InvalidToken, ExpiredToken, or Unauthorized when the parent is unknown or revoked
 */
export async function openSession(
  account: Account,
  accessKeyId: string,
  sessionToken: string,
  host: string,
  now: number,
): Promise<{ secret: string; grants: Grant[] }> {
  const jwt = Buffer.from(sessionToken, "base64").toString();
  if (!jwt.startsWith("jwt/")) throw new S3Error("InvalidToken");
  const token = jwt.slice("jwt/".length);
  const parent = account.tokens.find(issuer(token));
  if (parent === undefined) throw new S3Error("Unauthorized");
  const claims = await verify(token, parent, account, host, now);
  // Those signed by hand use the parent's access key id, those of the API have one of their own.
  if (accessKeyId !== (claims.jti ?? parent.id)) throw new S3Error("InvalidToken");
  return { secret: sha256(token), grants: [...tokenGrants(parent), ...scopeGrants(claims)] };
}

async function verify(token: string, parent: AccountToken, account: Account, host: string, now: number) {
  try {
    const { payload } = await jwtVerify<Partial<Record<string, unknown>>>(
      token,
      new TextEncoder().encode(secretAccessKey(parent)),
      {
        algorithms: ["HS256"],
        subject: account.id,
        audience: [host, endpointHost(account)],
        requiredClaims: ["exp"],
        currentDate: new Date(now),
      },
    );
    return payload;
  } catch (error) {
    throw new S3Error(error instanceof errors.JWTExpired ? "ExpiredToken" : "InvalidToken");
  }
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

function issuer(token: string): string {
  try {
    return decodeJwt(token).iss ?? "";
  } catch {
    throw new S3Error("InvalidToken");
  }
}

function endpointHost(account: Account): string {
  return `${account.id}.r2.cloudflarestorage.com`;
}
