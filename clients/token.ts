import { z } from "zod";

/** Who calls the catalog. A signing key is kept rather than a token, so that what is in state never expires. */
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
  | { readonly kind: "token"; readonly token: string }
  | { readonly kind: "none" };

/** How a provider reaches the catalog. Secret as a whole. */
export interface Connection {
  /** Base URL of Lakekeeper, without `/catalog`. */
  readonly uri: string;
  readonly identity: Identity;
}

const text = z.string({ error: "must be a text" }).min(1, { error: "must not be empty" });

export const connectionSchema = z.object(
  {
    uri: z.url({ protocol: /^https?$/, error: "must be the http(s) URL of Lakekeeper, without /catalog" }),
    identity: z.discriminatedUnion(
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
        z.object({ kind: z.literal("token"), token: text }),
        z.object({ kind: z.literal("none") }),
      ],
      { error: "must be one of signing-key, token and none" },
    ),
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
  const expiresAt = now + LIFETIME_SECONDS;
  const token = await signJwt(identity, { issuedAt: now, expiresAt });
  minted.set(key, { token, expiresAt });
  return token;
}
