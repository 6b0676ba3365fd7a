import * as pulumi from "@pulumi/pulumi";
import { provider } from "./dynamic.ts";

export interface CredentialOverlapArgs {
  /** Tells the stored credential from others. */
  readonly credential: pulumi.Input<string>;
  /** How long something that the credential before it has vended may be in use: its lifetime, and that of caches. */
  readonly seconds: pulumi.Input<number>;
}

const implementation = provider("providers/credentialOverlap.provider.ts");

/**
 * Ends when nobody uses what an earlier credential has vended. What the engine deletes goes after everything else is
 * done, so the token of the earlier credential outlives its children by this.
 */
export class CredentialOverlap extends pulumi.dynamic.Resource {
  constructor(name: string, args: CredentialOverlapArgs, opts?: pulumi.CustomResourceOptions) {
    super(implementation, name, { ...args }, opts, "lakekeeper", "CredentialOverlap");
  }
}
