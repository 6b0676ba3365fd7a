import { z } from "zod";
import type { ClientCredentials } from "./openId.ts";

/** Who calls the catalog. What makes tokens is kept rather than a token, so that what is in state never expires. */
export type Identity =
  | {
      readonly kind: "signing-key";
      /** PKCS #8 in PEM. */
      readonly privateKey: string;
      readonly kid: string;
      readonly algorithm: "RS256" | "ES256";
      readonly issuer: string;
      readonly audience: string;
      readonly subject: string;
    }
  | ({ readonly kind: "client-credentials" } & ClientCredentials)
  | { readonly kind: "token"; readonly token: string }
  | { readonly kind: "none" };

/** How a provider reaches the catalog. Secret as a whole. */
export interface Connection {
  /** Base URL of Lakekeeper, without `/catalog`. */
  readonly uri: string;
  readonly identity: Identity;
}

const text = z.string({ error: "must be a text" }).min(1, { error: "must not be empty" });
const url = z.url({ protocol: /^https?$/, error: "must be an http or https URL" });

export const clientCredentialsSchema = z.object({
  issuerUrl: url,
  tokenEndpoint: url.optional(),
  clientId: text,
  clientSecret: text,
  audience: text,
  scope: text.optional(),
  subjectClaims: z.array(text).min(1, { error: "must name a claim" }),
  subject: text,
});

export const identitySchema = z.discriminatedUnion(
  "kind",
  [
    z.object({
      kind: z.literal("signing-key"),
      privateKey: text,
      kid: text,
      algorithm: z.enum(["RS256", "ES256"], { error: "must be RS256 or ES256" }),
      issuer: text,
      audience: text,
      subject: text,
    }),
    clientCredentialsSchema.extend({ kind: z.literal("client-credentials") }),
    z.object({ kind: z.literal("token"), token: text }),
    z.object({ kind: z.literal("none") }),
  ],
  { error: "must be one of signing-key, client-credentials, token and none" },
);

export const connectionSchema = z.object(
  {
    uri: z.url({ protocol: /^https?$/, error: "must be the http(s) URL of Lakekeeper, without /catalog" }),
    identity: identitySchema,
  },
  { error: "must name the URI and the identity to call the catalog with" },
);

/** Who a token is for and whose key signs it. */
export interface JwtSubject {
  readonly privateKey: string;
  readonly kid: string;
  readonly algorithm: "RS256" | "ES256";
  readonly issuer: string;
  readonly audience: string;
  readonly subject: string;
}

/**
 * Signs a JWT as Lakekeeper 0.13.3 accepts it: `kid` in the header; `client_id` makes the user an application and
 * `name` is how it is listed. Times are in seconds since 1970.
 */
export async function signJwt(of: JwtSubject, times: { issuedAt: number; expiresAt: number }): Promise<string> {
  // Loaded on first use: most calls of a provider need no signature.
  const { SignJWT, importPKCS8 } = await import("jose");
  return new SignJWT({ client_id: of.subject, name: of.subject })
    .setProtectedHeader({ alg: of.algorithm, kid: of.kid, typ: "JWT" })
    .setIssuer(of.issuer)
    .setSubject(of.subject)
    .setAudience(of.audience)
    .setIssuedAt(times.issuedAt)
    .setExpirationTime(times.expiresAt)
    .sign(await importPKCS8(of.privateKey, of.algorithm));
}

/**
 * What Lakekeeper calls the user of a token of its main OpenID provider, such as `oidc~ml-runner`.
 *
 * @param subjectClaims the first one present names him
 */
export async function userOf(token: string, subjectClaims: readonly string[]): Promise<string> {
  const { decodeJwt } = await import("jose");
  const claims: Record<string, unknown> = decodeJwt(token);
  const subject = subjectClaims.map((name) => claims[name]).find((value) => typeof value === "string");
  return userNamed(subject ?? "");
}

export function userNamed(subject: string): string {
  return `oidc~${subject}`;
}

const LIFETIME_SECONDS = 600;
const SPARE_SECONDS = 60;
const minted = new Map<string, { token: string; expiresAt: number }>();

/** A bearer token for this identity, or undefined when the catalog asks for none. */
export async function accessToken(identity: Identity): Promise<string | undefined> {
  if (identity.kind === "none") return undefined;
  if (identity.kind === "token") return identity.token;
  const key = JSON.stringify(identity);
  const now = Math.floor(Date.now() / 1_000);
  const known = minted.get(key);
  if (known !== undefined && known.expiresAt - now > SPARE_SECONDS) return known.token;
  const fresh = identity.kind === "signing-key" ? await signFor(identity, now) : await obtain(identity);
  minted.set(key, fresh);
  return fresh.token;
}

async function signFor(of: JwtSubject, issuedAt: number): Promise<{ token: string; expiresAt: number }> {
  const expiresAt = issuedAt + LIFETIME_SECONDS;
  return { token: await signJwt(of, { issuedAt, expiresAt }), expiresAt };
}

async function obtain(client: ClientCredentials): Promise<{ token: string; expiresAt: number }> {
  const { obtainToken } = await import("./openId.ts");
  return obtainToken(client);
}
