import * as pulumi from "@pulumi/pulumi";
import { provider } from "../../providers/dynamic.ts";

export interface CustomDomainVerificationArgs {
  readonly projectId: pulumi.Input<string>;
  /** Id of the CustomDomain. */
  readonly customDomainId: pulumi.Input<string>;
  readonly domain: pulumi.Input<string>;
  /** @default 900; a zone's records are seen everywhere only after a while */
  readonly timeoutSeconds?: pulumi.Input<number>;
}

const implementation = provider("sdks/railway/customDomainVerification.provider.ts");

/** Ends when Railway has seen a domain's records, so that it leads to its service. Depend it on the records. */
export class CustomDomainVerification extends pulumi.dynamic.Resource {
  constructor(name: string, args: CustomDomainVerificationArgs, opts?: pulumi.CustomResourceOptions) {
    super(implementation, name, { ...args }, opts, "railway", "CustomDomainVerification");
  }
}
