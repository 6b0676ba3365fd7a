import * as pulumi from "@pulumi/pulumi";
import { provider } from "../../providers/dynamic.ts";

export interface CustomDomainArgs {
  readonly projectId: pulumi.Input<string>;
  /** Another environment or service replaces the domain, which is deleted first: nobody else may have it meanwhile. */
  readonly environmentId: pulumi.Input<string>;
  readonly serviceId: pulumi.Input<string>;
  /** Without a scheme: `catalog.example.com`. Another one replaces it. */
  readonly domain: pulumi.Input<string>;
  /** The port that it leads to. @default the service's PORT */
  readonly targetPort?: pulumi.Input<number>;
}

/** A record that the domain's zone must have. */
export interface DnsRecord {
  readonly type: "A" | "CNAME" | "NS" | "TXT";
  /** In full: `catalog.example.com`. */
  readonly name: string;
  readonly value: string;
}

const implementation = provider("sdks/railway/customDomain.provider.ts");

/**
 * A domain of one's own that leads to a service, once its zone has `dnsRecords`: where the traffic goes, and the proof
 * of ownership. One that the service has already is taken over.
 */
export class CustomDomain extends pulumi.dynamic.Resource {
  declare readonly domain: pulumi.Output<string>;
  declare readonly dnsRecords: pulumi.Output<DnsRecord[]>;
  /** Name of the TXT record that proves the ownership; absent where Railway asks for no proof. */
  declare readonly verificationHost: pulumi.Output<string | undefined>;
  /** Its value, which is public. */
  declare readonly verificationToken: pulumi.Output<string | undefined>;
  /** Whether Railway had seen the records when it was last looked at. */
  declare readonly verified: pulumi.Output<boolean>;

  constructor(name: string, args: CustomDomainArgs, opts?: pulumi.CustomResourceOptions) {
    const outputs = {
      dnsRecords: undefined,
      verificationHost: undefined,
      verificationToken: undefined,
      verified: undefined,
    };
    super(implementation, name, { ...args, ...outputs }, opts, "railway", "CustomDomain");
  }
}
