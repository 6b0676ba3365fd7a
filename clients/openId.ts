import { createLocalJWKSet, decodeJwt, errors, type JSONWebKeySet, jwtVerify, type JWTPayload } from "jose";
import { request } from "undici";
import { z } from "zod";
import { NoAnswer, UserError } from "./errors.ts";
import { redact } from "./redact.ts";
import { backoff, retry } from "./retry.ts";

/** What is used of an OpenID provider's discovery document. */
export interface Discovery {
  /** The `iss` of its tokens. */
  readonly issuer: string;
  readonly jwksUri: string;
  readonly tokenEndpoint: string | undefined;
  /** How clients may show their secret to the token endpoint. */
  readonly authenticationMethods: readonly string[];
}

/** A client of an OpenID provider that gets tokens for itself, and what these have to say. */
export interface ClientCredentials {
  readonly issuerUrl: string;
  /** In place of the one that discovery names. */
  readonly tokenEndpoint?: string | undefined;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly audience: string;
  /** Asked for. */
  readonly scope?: string | undefined;
  /** Claims of which one has to be there; Lakekeeper takes the first as the user. */
  readonly subjectClaims: readonly string[];
  /** Whose client it is, for messages: the name in `lakekeeper:authClients`. */
  readonly subject: string;
}

export interface ObtainedToken {
  readonly token: string;
  /** Seconds since 1970. */
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/** How far clocks may be apart, as Lakekeeper 0.13.3 takes it. */
const LEEWAY_SECONDS = 60;
const TIMEOUT_MS = 10_000;
const ATTEMPTS = 3;

const discoverySchema = z.object({
  issuer: z.string(),
  jwks_uri: z.url({ protocol: /^https?$/ }),
  token_endpoint: z.url({ protocol: /^https?$/ }).optional(),
  // RFC 8414: without it, HTTP Basic.
  token_endpoint_auth_methods_supported: z.array(z.string()).default(["client_secret_basic"]),
});

const keySetSchema = z.object({ keys: z.array(z.looseObject({ kid: z.string().optional(), kty: z.string() })).min(1) });

const tokenSchema = z.object({ access_token: z.string() });
const refusalSchema = z.object({ error: z.string(), error_description: z.string().optional() });

/**
 * Reads the discovery document as Lakekeeper does at its start, where it exits without one.
 *
 * @throws UserError when there is none, when it is of another issuer, or when it names no keys
 */
export async function discover(issuerUrl: string): Promise<Discovery> {
  const url = `${withoutSlash(issuerUrl)}/.well-known/openid-configuration`;
  const { status, text } = await ask(url, "lakekeeper:auth.issuerUrl");
  const parsed = status === 200 ? discoverySchema.safeParse(jsonOf(text)) : undefined;
  if (!parsed?.success) {
    throw new UserError(
      `${url} answers ${status} and no discovery document of an OpenID provider. Set lakekeeper:auth.issuerUrl to the ` +
        "provider's issuer, without /.well-known/openid-configuration.",
    );
  }
  const { issuer, jwks_uri: jwksUri, token_endpoint: tokenEndpoint, ...rest } = parsed.data;
  if (withoutSlash(issuer) !== withoutSlash(issuerUrl)) {
    throw new UserError(
      `${url} is the discovery document of another issuer, ${issuer}, whose name its tokens carry. Set ` +
        `lakekeeper:auth.issuerUrl to ${issuer} if that is the provider you mean.`,
    );
  }
  return { issuer, jwksUri, tokenEndpoint, authenticationMethods: rest.token_endpoint_auth_methods_supported };
}

/**
 * The provider's public keys.
 *
 * @throws UserError when there are none, or one with which Lakekeeper 0.13.3 refuses the whole set
 */
export async function publicKeys({ jwksUri }: Discovery): Promise<JSONWebKeySet> {
  const { status, text } = await ask(jwksUri, "its address comes from the provider's discovery document");
  const parsed = status === 200 ? keySetSchema.safeParse(jsonOf(text)) : undefined;
  if (!parsed?.success)
    throw new UserError(`${jwksUri} answers ${status} and no key set, which its discovery promises.`);
  if (parsed.data.keys.some(({ kty }) => kty === "oct")) {
    throw new UserError(
      `${jwksUri} holds a symmetric key (kty oct): Lakekeeper takes none of a set with one. Remove it at the provider.`,
    );
  }
  return parsed.data as JSONWebKeySet;
}

/**
 * Looks at an OpenID provider without asking it for a token: discovery, keys, and that something answers at the token
 * endpoint.
 */
export async function examine(
  issuerUrl: string,
  tokenEndpoint?: string,
): Promise<Discovery & { tokenEndpoint: string }> {
  const discovery = await discover(issuerUrl);
  await publicKeys(discovery);
  const endpoint = endpointOf(discovery, tokenEndpoint);
  const { status } = await ask(endpoint, "lakekeeper:auth.tokenEndpoint");
  if (status === 404) {
    throw new UserError(
      `There is nothing at the token endpoint ${endpoint} (404). Correct lakekeeper:auth.tokenEndpoint, or leave it out ` +
        "to use the one of the provider's discovery document.",
    );
  }
  return { ...discovery, tokenEndpoint: endpoint };
}

/**
 * Gets a token by the client-credentials grant, and looks at it as Lakekeeper will.
 *
 * @throws UserError when the provider refuses, or gives a token that Lakekeeper would refuse
 */
export async function obtainToken(client: ClientCredentials): Promise<ObtainedToken> {
  const discovery = await discover(client.issuerUrl);
  const endpoint = endpointOf(discovery, client.tokenEndpoint);
  const token = await requestToken(client, endpoint, discovery);
  return examineToken(token, client, discovery, await publicKeys(discovery));
}

async function requestToken(client: ClientCredentials, endpoint: string, discovery: Discovery): Promise<string> {
  const { clientId, clientSecret, audience, scope, subject } = client;
  const form = new URLSearchParams({
    grant_type: "client_credentials",
    audience,
    ...(scope !== undefined && { scope }),
  });
  const headers: Record<string, string> = { "content-type": "application/x-www-form-urlencoded" };
  if (discovery.authenticationMethods.includes("client_secret_post")) {
    form.set("client_id", clientId);
    form.set("client_secret", clientSecret);
  } else {
    const login = [clientId, clientSecret].map(encodeURIComponent).join(":");
    headers["authorization"] = `Basic ${Buffer.from(login).toString("base64")}`;
  }
  const { status, text } = await ask(endpoint, "lakekeeper:auth.tokenEndpoint", { headers, body: form.toString() });
  const answer = jsonOf(text);
  const parsed = tokenSchema.safeParse(answer);
  if (status === 200 && parsed.success) return parsed.data.access_token;

  const refusal = refusalSchema.safeParse(answer);
  const words = refusal.success ? [refusal.data.error, refusal.data.error_description ?? ""] : [text.slice(0, 200)];
  const said = redact(words.join(" ").trim(), [clientSecret]);
  throw new UserError(
    `${endpoint} gives the client ${clientId} of lakekeeper:authClients no token: ${status} ${said}. ` +
      `If its secret has expired or is another one: pulumi config set --secret --path lakekeeper:authClients.${subject}.clientSecret`,
  );
}

/** What makes Lakekeeper refuse a token, told in more words than its `AuthenticationFailed`. */
async function examineToken(
  token: string,
  { clientId, audience, scope, subjectClaims }: ClientCredentials,
  { issuer, jwksUri }: Discovery,
  keys: JSONWebKeySet,
): Promise<ObtainedToken> {
  const refuse = (what: string): never => {
    throw new UserError(`The token that ${issuer} gives the client ${clientId} is refused by Lakekeeper: ${what}`);
  };
  let claims: JWTPayload;
  try {
    claims = decodeJwt(token);
  } catch {
    return refuse("it is not a JWT. Have the provider issue JWTs for this client.");
  }
  if (claims.iss !== issuer) refuse(`its issuer is ${String(claims.iss)}. Check lakekeeper:auth.issuerUrl.`);
  const audiences = [claims.aud ?? []].flat();
  if (!audiences.includes(audience)) {
    refuse(
      `it is for ${audiences.join(", ") || "no audience"}, not for ${audience}. Correct lakekeeper:auth.audience, or have ` +
        "the provider put that audience into this client's tokens.",
    );
  }
  const scopes = typeof claims["scope"] === "string" ? claims["scope"].split(" ") : [];
  const missing = scope?.split(" ").filter((name) => !scopes.includes(name)) ?? [];
  if (missing.length > 0)
    refuse(`it lacks the scope ${missing.join(" ")}. Grant it to the client, or correct lakekeeper:auth.scope.`);
  if (!subjectClaims.some((name) => typeof claims[name] === "string")) {
    refuse(`it has no claim ${subjectClaims.join(" or ")} to name its user. Correct lakekeeper:auth.subjectClaim.`);
  }
  const now = Math.floor(Date.now() / 1_000);
  const { exp, iat = now } = claims;
  if (exp === undefined) return refuse("it has no end (exp).");
  if (exp <= now - LEEWAY_SECONDS || iat > now + LEEWAY_SECONDS) {
    const [from, until] = [iat, exp].map((seconds) => new Date(seconds * 1_000).toISOString());
    const clock = new Date(now * 1_000).toISOString();
    refuse(
      `it is valid from ${from} until ${until}, and here it is ${clock}. Set the clock of this machine or of the provider right.`,
    );
  }
  try {
    await jwtVerify(token, createLocalJWKSet(keys), { clockTolerance: LEEWAY_SECONDS });
  } catch (error) {
    const reason =
      error instanceof errors.JWKSNoMatchingKey ? "none of the keys there has signed it" : (error as Error).message;
    refuse(`it cannot be verified with ${jwksUri}: ${reason}.`);
  }
  return { token, issuedAt: iat, expiresAt: exp };
}

function endpointOf(discovery: Discovery, given: string | undefined): string {
  const endpoint = given ?? discovery.tokenEndpoint;
  if (endpoint !== undefined) return endpoint;
  throw new UserError(
    `The discovery document of ${discovery.issuer} names no token endpoint: set lakekeeper:auth.tokenEndpoint.`,
  );
}

/** @param remedy the setting, or where the address comes from */
async function ask(
  url: string,
  remedy: string,
  form?: { headers: Record<string, string>; body: string },
): Promise<{ status: number; text: string }> {
  const once = async () => {
    const answer = await request(url, {
      method: form === undefined ? "GET" : "POST",
      headers: { accept: "application/json", ...form?.headers },
      ...(form && { body: form.body }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await answer.body.text();
    if (answer.statusCode >= 500) throw new Error(`it answers ${answer.statusCode} ${text.slice(0, 200)}`.trim());
    return { status: answer.statusCode, text };
  };
  try {
    return await retry(once, (_error, attempt) => (attempt < ATTEMPTS ? backoff(attempt) : undefined));
  } catch (error) {
    throw new NoAnswer(
      `The OpenID provider does not serve ${url}: ${(error as Error).message}. See that it is up and can be reached from ` +
        `here, and check its address: ${remedy}.`,
    );
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, "");
}
