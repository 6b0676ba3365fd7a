import { decodeJwt, type JWTPayload } from "jose";
import { CatalogError } from "../http/errors.ts";
import { log } from "../log.ts";
import type { OpenIdSettings } from "../settings.ts";
import { Authenticator, type Identity } from "./authenticator.ts";

/**
 * Several OpenID providers: a token is for the first one of its issuer and audience, and for no other when that one
 * refuses it.
 */
export class AuthenticatorChain {
  readonly #links: readonly Authenticator[];

  private constructor(links: readonly Authenticator[]) {
    this.#links = links;
  }

  /** Throws when a provider does not answer without which the server must not start. */
  static async discover(providers: readonly OpenIdSettings[]): Promise<AuthenticatorChain> {
    const links: Authenticator[] = [];
    for (const provider of providers) {
      try {
        links.push(await Authenticator.discover(provider));
      } catch (error) {
        if (provider.required) throw error;
        log("WARN", "lakekeeper::serve", (error as Error).message);
      }
    }
    return new AuthenticatorChain(links);
  }

  /** Throws as the link does that the token is for. */
  async authenticate(header: string | undefined): Promise<Identity> {
    const [first] = this.#links;
    const link = this.#links.find((each) => each.isFor(claimsOf(header))) ?? first;
    if (link === undefined) throw new CatalogError(401, "AuthenticationFailed", "Authentication failed");
    return link.authenticate(header);
  }
}

/** Of a token that nobody has verified yet. */
function claimsOf(header = ""): JWTPayload {
  try {
    return decodeJwt(header.replace(/^Bearer\s+/i, ""));
  } catch {
    return {};
  }
}
