import * as pulumi from "@pulumi/pulumi";
import type { JWK } from "jose";
import { provider } from "./dynamic.ts";

export interface SigningKeyArgs {
  /** Signature algorithm of the tokens. Changing it makes a new key. @default "RS256" */
  readonly algorithm?: pulumi.Input<"RS256" | "ES256">;
  /** Raise it to make a new key; nothing else ever does. @default 1 */
  readonly generation?: pulumi.Input<number>;
  /** The longest lifetime of a token signed with this key, in seconds: so long a replaced key stays published. */
  readonly tokenLifetimeSeconds: pulumi.Input<number>;
}

/** The public half of a replaced key, published until `until` (ISO 8601), when its last token has expired. */
export interface RetiredKey {
  readonly jwk: JWK;
  readonly until: string;
}

const implementation = provider("providers/signingKey.provider.ts");

/** The key pair that signs the catalog's tokens, made once and kept in state. */
export class SigningKey extends pulumi.dynamic.Resource {
  declare readonly algorithm: pulumi.Output<"RS256" | "ES256">;
  /** PKCS#8 PEM; secret. */
  declare readonly privateKey: pulumi.Output<string>;
  /** RFC 7638 thumbprint of the public key. */
  declare readonly kid: pulumi.Output<string>;
  declare readonly publicJwk: pulumi.Output<JWK>;
  /** Replaced keys that are still published. */
  declare readonly retired: pulumi.Output<RetiredKey[]>;
  /** What to publish: the current key first, then the retired ones. */
  declare readonly jwks: pulumi.Output<{ keys: JWK[] }>;

  constructor(name: string, args: SigningKeyArgs, opts?: pulumi.CustomResourceOptions) {
    const outputs = {
      privateKey: undefined,
      kid: undefined,
      publicJwk: undefined,
      retired: undefined,
      longestLifetimeSeconds: undefined,
      jwks: undefined,
    };
    super(
      implementation,
      name,
      { algorithm: "RS256", generation: 1, ...args, ...outputs },
      pulumi.mergeOptions(opts, { additionalSecretOutputs: ["privateKey"] }),
      "lakekeeper",
      "SigningKey",
    );
  }
}
