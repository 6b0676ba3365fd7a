import * as pulumi from "@pulumi/pulumi";
import type { ClientCredentials } from "../clients/openId.ts";
import { provider } from "./dynamic.ts";

export interface OidcTokenArgs {
  /** The client that the token is for; secret. */
  readonly client: pulumi.Input<ClientCredentials>;
  /** How long before its end the next `pulumi up` renews it, in seconds; at most half of its lifetime counts. */
  readonly renewBeforeSeconds: pulumi.Input<number>;
}

const implementation = provider("providers/oidcToken.provider.ts");

/** A token of an OpenID provider for one of its clients, renewed by the first `pulumi up` within its renewal window. */
export class OidcToken extends pulumi.dynamic.Resource {
  /** The JWT; secret. */
  declare readonly token: pulumi.Output<string>;
  /** ISO 8601. */
  declare readonly issuedAt: pulumi.Output<string>;
  /** ISO 8601. */
  declare readonly expiresAt: pulumi.Output<string>;

  constructor(name: string, args: OidcTokenArgs, opts?: pulumi.CustomResourceOptions) {
    const outputs = { token: undefined, issuedAt: undefined, expiresAt: undefined };
    super(
      implementation,
      name,
      { ...args, client: pulumi.secret(args.client), ...outputs },
      pulumi.mergeOptions(opts, { additionalSecretOutputs: ["token", "client"] }),
      "lakekeeper",
      "OidcToken",
    );
  }
}
