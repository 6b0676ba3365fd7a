import {
  compactVerify,
  createLocalJWKSet,
  createRemoteJWKSet,
  decodeJwt,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
} from "jose";
import { CatalogError } from "../http/errors.ts";
import type { OpenIdSettings } from "../settings.ts";

export interface Identity {
  /** `<provider>~<subject>`. */
  readonly userId: string;
  readonly name: string;
  readonly email: string | null;
  readonly kind: "human" | "application";
}

const leewaySeconds = 60;
const timeoutMilliseconds = 10_000;
const refreshMilliseconds = 3_600_000;
/** For how long a token that was found good is believed without another look, and how many such tokens are known. */
const trustMilliseconds = 60_000;
const trustCapacity = 1_000;

function text(claims: JWTPayload, name: string): string | undefined {
  const value = claims[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** What a token says about its owner. A name makes a human, a client id without one an application. */
function describe(claims: JWTPayload, subject: string): Pick<Identity, "name" | "email" | "kind"> {
  const parts = [text(claims, "given_name"), text(claims, "family_name")].filter((part) => part !== undefined);
  const humanName = text(claims, "name") ?? (parts.length > 0 ? parts.join(" ") : undefined);
  const appName = text(claims, "app_displayname") ?? text(claims, "preferred_username") ?? text(claims, "client_id");
  const application =
    claims["idtyp"] === "app" ||
    (humanName === undefined && (text(claims, "app_displayname") ?? text(claims, "client_id")) !== undefined);
  return {
    name: (application ? appName : humanName) ?? text(claims, "preferred_username") ?? subject,
    email: text(claims, "email") ?? null,
    kind: application ? "application" : "human",
  };
}

/** fetch says "fetch failed" and keeps the reason to itself. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}

function missing(): CatalogError {
  return new CatalogError(401, "MissingAuthorizationHeader", "Missing Authorization Header");
}

function failed(): CatalogError {
  return new CatalogError(401, "AuthenticationFailed", "Authentication failed");
}

/** Keys of a JWKS, fetched when first needed. An unknown key id asks again at once; an outage does not lose known keys. */
function remoteKeys(uri: string): JWTVerifyGetKey {
  const options = { cacheMaxAge: refreshMilliseconds, cooldownDuration: 0, timeoutDuration: timeoutMilliseconds };
  const remote = createRemoteJWKSet(new URL(uri), options);
  return async (header, token) => {
    try {
      return await remote(header, token);
    } catch (error) {
      const known = remote.jwks();
      if (known === undefined || error instanceof errors.JWKSNoMatchingKey) throw error;
      return createLocalJWKSet(known)(header, token);
    }
  };
}

/** Verifies JWTs of one OpenID provider: signature by its JWKS, issuer, expiry, and the audience when one is set. */
export class Authenticator {
  private readonly settings: OpenIdSettings;
  private readonly issuers: string[];
  private readonly keys: JWTVerifyGetKey;
  private readonly trusted = new Map<string, { until: number; identity: Identity }>();

  private constructor(settings: OpenIdSettings, issuer: string, jwksUri: string) {
    this.settings = settings;
    this.issuers = [issuer, ...settings.additionalIssuers];
    this.keys = remoteKeys(jwksUri);
  }

  /** Reads the provider's discovery document once. Throws when it cannot be had: the server must not start without it. */
  static async discover(settings: OpenIdSettings): Promise<Authenticator> {
    const url = `${settings.providerUri.replace(/\/?$/, "/")}.well-known/openid-configuration`;
    const problem = `Failed to create required OIDC authenticator for ${settings.id} (${settings.providerUri}): Failed to fetch openid configuration from ${url}`;
    try {
      const answer = await fetch(url, { signal: AbortSignal.timeout(timeoutMilliseconds) });
      if (!answer.ok) throw new Error(`HTTP status ${answer.status}`);
      const document = (await answer.json()) as { issuer?: unknown; jwks_uri?: unknown } | null;
      if (typeof document?.issuer !== "string" || typeof document.jwks_uri !== "string")
        throw new Error("missing field `issuer` or `jwks_uri`");
      return new Authenticator(settings, document.issuer, document.jwks_uri);
    } catch (error) {
      throw new Error(`${problem}: ${reasonOf(error)}`, { cause: error });
    }
  }

  /** Whether these claims name this provider and an audience that it may have tokens for. */
  isFor({ iss, aud }: JWTPayload): boolean {
    const accepted = this.settings.audience;
    const audience = [aud ?? []].flat();
    const suits = accepted.length === 0 || audience.length === 0 || audience.some((name) => accepted.includes(name));
    return iss !== undefined && this.issuers.includes(iss) && suits;
  }

  /** Throws 401 MissingAuthorizationHeader, or 401 AuthenticationFailed whatever is wrong with the token. */
  async authenticate(header: string | undefined): Promise<Identity> {
    if (header === undefined) throw missing();
    const token = /^Bearer\s+(.+)$/i.exec(header)?.[1];
    if (token === undefined) throw failed();
    const trusted = this.trusted.get(token);
    if (trusted !== undefined && trusted.until > Date.now()) return trusted.identity;
    const { identity, expiresAt } = await this.verify(token);
    if (this.trusted.size >= trustCapacity) this.trusted.clear();
    this.trusted.set(token, { until: Math.min(Date.now() + trustMilliseconds, expiresAt), identity });
    return identity;
  }

  /** `expiresAt` in Unix milliseconds, with the leeway. */
  private async verify(token: string): Promise<{ identity: Identity; expiresAt: number }> {
    let claims: JWTPayload;
    try {
      const { protectedHeader } = await compactVerify(token, this.keys);
      if (protectedHeader.kid === undefined) throw failed();
      claims = decodeJwt(token);
    } catch {
      throw failed();
    }
    // Unlike jose's own check of a JWT, the real server's takes no notice of `nbf`.
    if (typeof claims.exp !== "number" || claims.exp + leewaySeconds <= Date.now() / 1000) throw failed();
    const audience = [claims.aud ?? []].flat();
    const accepted = this.settings.audience;
    if (!this.issuers.includes(claims.iss ?? "")) throw failed();
    // A token without any audience passes: seen with Lakekeeper 0.13.3.
    if (accepted.length > 0 && audience.length > 0 && !audience.some((name) => accepted.includes(name))) throw failed();
    if (this.settings.scope !== undefined && !(text(claims, "scope") ?? "").split(" ").includes(this.settings.scope))
      throw failed();
    const subject = this.settings.subjectClaims
      .map((claim) => text(claims, claim))
      .find((value) => value !== undefined);
    if (subject === undefined) throw failed();
    return {
      identity: { userId: `${this.settings.id}~${subject}`, ...describe(claims, subject) },
      expiresAt: (claims.exp + leewaySeconds) * 1000,
    };
  }
}
