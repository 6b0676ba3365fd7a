import * as pulumi from "@pulumi/pulumi";
import { provider } from "./dynamic.ts";

export interface TokenArgs {
  /** Who the token speaks for: `sub`, `client_id` and `name`. */
  readonly subject: pulumi.Input<string>;
  /** Private key, PKCS#8 PEM; secret. */
  readonly signingKey: pulumi.Input<string>;
  /** Id under which the issuer publishes the key. */
  readonly kid: pulumi.Input<string>;
  readonly algorithm: pulumi.Input<"RS256" | "ES256">;
  /** `iss`: the issuer URL, exactly as in its discovery document. */
  readonly issuer: pulumi.Input<string>;
  /** `aud`: what the catalog expects. */
  readonly audience: pulumi.Input<string>;
  /** How long a token is valid, in seconds: 60 to 315360000 (ten years). */
  readonly lifetimeSeconds: pulumi.Input<number>;
  /** How long before its end the next `pulumi up` renews it, in seconds; less than the lifetime. */
  readonly renewBeforeSeconds: pulumi.Input<number>;
}

const implementation = provider("providers/token.provider.ts");

/** A signed JWT that the catalog accepts, renewed by the first `pulumi up` within its renewal window. */
export class Token extends pulumi.dynamic.Resource {
  /** The JWT; secret. */
  declare readonly token: pulumi.Output<string>;
  /** ISO 8601. */
  declare readonly issuedAt: pulumi.Output<string>;
  /** ISO 8601. */
  declare readonly expiresAt: pulumi.Output<string>;

  constructor(name: string, args: TokenArgs, opts?: pulumi.CustomResourceOptions) {
    super(
      implementation,
      name,
      {
        ...args,
        signingKey: pulumi.secret(args.signingKey),
        token: undefined,
        issuedAt: undefined,
        expiresAt: undefined,
      },
      pulumi.mergeOptions(opts, { additionalSecretOutputs: ["token", "signingKey"] }),
      "lakekeeper",
      "Token",
    );
  }
}
