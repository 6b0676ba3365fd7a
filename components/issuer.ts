import * as pulumi from "@pulumi/pulumi";
import type { StackConfig } from "../config.ts";
import type { Protection } from "./protection.ts";
import type { Platform } from "../platforms/platform.ts";
import { SigningKey } from "../providers/signingKey.ts";
import type { Identity } from "../clients/token.ts";

export interface TokenIssuerArgs {
  readonly platform: Platform;
  readonly auth: StackConfig["auth"];
  /** Of the signing key: with it every token dies. */
  readonly protection: Protection;
}

/**
 * Who Lakekeeper believes. Lakekeeper issues no tokens itself and knows no static ones: it takes JWTs of an OpenID
 * provider. So the stack is one: a key pair, and the two static documents that a verifier reads.
 */
export class TokenIssuer extends pulumi.ComponentResource {
  readonly key: SigningKey;
  /** The `iss` of every token. */
  readonly url: pulumi.Output<string>;
  /** Where Lakekeeper finds the discovery document. */
  readonly providerUri: pulumi.Output<string>;
  readonly audience: string;
  /** What must exist before Lakekeeper starts. */
  readonly published: pulumi.Resource;

  constructor(name: string, args: TokenIssuerArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakekeeper:index:TokenIssuer", name, {}, opts);
    const { algorithm, audience, keyGeneration, tokenLifetimeSeconds } = args.auth;
    this.audience = audience;
    this.key = new SigningKey(
      `${name}-key`,
      { algorithm, generation: keyGeneration, tokenLifetimeSeconds },
      { parent: this, ...args.protection },
    );
    const issuer = args.platform.issuer(name, this.key.jwks, { parent: this });
    this.url = issuer.url;
    this.providerUri = issuer.providerUri;
    this.published = issuer.published;
    this.registerOutputs({ url: this.url });
  }

  /** What lets a provider speak to Lakekeeper as `subject`: it signs itself a short token whenever it has to. */
  identity(subject: string): pulumi.Output<Identity> {
    const { privateKey, kid, algorithm } = this.key;
    return pulumi.secret(
      pulumi.all([privateKey, kid, algorithm, this.url]).apply(([pem, id, alg, issuer]) => ({
        kind: "signing-key" as const,
        privateKey: pem,
        kid: id,
        algorithm: alg,
        issuer,
        audience: this.audience,
        subject,
      })),
    );
  }
}
