import * as pulumi from "@pulumi/pulumi";
import { userNamed, type Identity } from "../clients/token.ts";
import type { StackConfig } from "../config.ts";
import type { Platform } from "../platforms/platform.ts";
import { SigningKey } from "../providers/signingKey.ts";
import { Token } from "../providers/token.ts";
import type { Authentication, Subject, TrustedProvider } from "./authentication.ts";
import type { Protection } from "./protection.ts";

export interface TokenIssuerArgs {
  readonly platform: Platform;
  readonly auth: StackConfig["auth"];
  /** Of the signing key: with it every token dies. */
  readonly protection: Protection;
}

/**
 * `auth.mode: bootstrap-token`. Lakekeeper issues no tokens itself and knows no static ones: it takes JWTs of an OpenID
 * provider. So the stack is one: a key pair, and the two static documents that a verifier reads.
 */
export class TokenIssuer extends pulumi.ComponentResource implements Authentication {
  readonly trusted: TrustedProvider;
  readonly handsOutTokens = true;
  readonly ready: pulumi.Resource[];
  readonly #key: SigningKey;
  readonly #auth: StackConfig["auth"];
  /** The `iss` of every token. */
  readonly #url: pulumi.Output<string>;

  constructor(name: string, args: TokenIssuerArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakekeeper:index:TokenIssuer", name, {}, opts);
    const { algorithm, audience, keyGeneration, tokenLifetimeSeconds } = args.auth;
    this.#auth = args.auth;
    this.#key = new SigningKey(
      `${name}-key`,
      { algorithm, generation: keyGeneration, tokenLifetimeSeconds },
      { parent: this, ...args.protection },
    );
    const issuer = args.platform.issuer(name, this.#key.jwks, { parent: this });
    this.#url = issuer.url;
    this.trusted = { uri: issuer.providerUri, audience, subjectClaims: ["sub"] };
    this.ready = [issuer.published];
    this.registerOutputs({ url: this.#url });
  }

  /** A provider signs itself a short token whenever it has to. */
  identity(subject: Subject): pulumi.Output<Identity> {
    const { privateKey, kid, algorithm } = this.#key;
    return pulumi.secret(
      pulumi.all([privateKey, kid, algorithm, this.#url]).apply(([pem, id, alg, issuer]) => ({
        kind: "signing-key" as const,
        privateKey: pem,
        kid: id,
        algorithm: alg,
        issuer,
        audience: this.#auth.audience,
        subject,
      })),
    );
  }

  user(subject: Subject): pulumi.Output<string> {
    return pulumi.output(userNamed(subject));
  }

  token(name: string, subject: Subject, opts: pulumi.CustomResourceOptions): pulumi.Output<string> {
    const { audience, tokenLifetimeSeconds, renewBeforeSeconds } = this.#auth;
    const { privateKey, kid, algorithm } = this.#key;
    return new Token(
      name,
      {
        subject,
        signingKey: privateKey,
        kid,
        algorithm,
        issuer: this.#url,
        audience,
        lifetimeSeconds: tokenLifetimeSeconds,
        renewBeforeSeconds,
      },
      // A token signed by a key that is not published yet would be refused.
      pulumi.mergeOptions(opts, { dependsOn: this.ready }),
    ).token;
  }
}
