import * as pulumi from "@pulumi/pulumi";
import { provider } from "./dynamic.ts";

export interface OpenIdDiscoveryArgs {
  /** The provider's issuer, without `/.well-known/openid-configuration`. */
  readonly issuerUrl: pulumi.Input<string>;
  /** In place of the one that its discovery document names. */
  readonly tokenEndpoint?: pulumi.Input<string>;
}

const implementation = provider("providers/openIdDiscovery.provider.ts");

/** An OpenID provider of somebody else's, seen to answer. A preview looks as well, and says what is wrong. */
export class OpenIdDiscovery extends pulumi.dynamic.Resource {
  /** Where clients get their tokens. */
  declare readonly oauth2ServerUri: pulumi.Output<string>;

  constructor(name: string, args: OpenIdDiscoveryArgs, opts?: pulumi.CustomResourceOptions) {
    super(implementation, name, { ...args, oauth2ServerUri: undefined }, opts, "lakekeeper", "OpenIdDiscovery");
  }
}
