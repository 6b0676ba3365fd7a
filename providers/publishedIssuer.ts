import * as pulumi from "@pulumi/pulumi";
import type { JWK } from "jose";
import { provider } from "./dynamic.ts";

export interface PublishedIssuerArgs {
  /** The issuer, which is also where its discovery document is. */
  readonly url: pulumi.Input<string>;
  /** The keys that are to be found there. */
  readonly jwks: pulumi.Input<{ keys: JWK[] }>;
  /** How long to wait for them. @default 300 */
  readonly timeoutSeconds?: pulumi.Input<number>;
}

const implementation = provider("providers/publishedIssuer.provider.ts");

/**
 * Goes on once the issuer's discovery document leads to the right keys. Lakekeeper reads it when it starts and exits
 * without; and a token signed with a key that is not there yet would be refused.
 */
export class PublishedIssuer extends pulumi.dynamic.Resource {
  constructor(name: string, args: PublishedIssuerArgs, opts?: pulumi.CustomResourceOptions) {
    super(implementation, name, { timeoutSeconds: 300, ...args }, opts, "lakekeeper", "PublishedIssuer");
  }
}
