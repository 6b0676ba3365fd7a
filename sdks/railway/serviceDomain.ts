import * as pulumi from "@pulumi/pulumi";
import { provider } from "../../providers/dynamic.ts";

export interface ServiceDomainArgs {
  readonly projectId: pulumi.Input<string>;
  readonly environmentId: pulumi.Input<string>;
  readonly serviceId: pulumi.Input<string>;
  /** The port that it leads to. @default the service's PORT */
  readonly targetPort?: pulumi.Input<number>;
  /** Its first label, in place of the one that Railway makes up. */
  readonly subdomain?: pulumi.Input<string>;
}

const implementation = provider("sdks/railway/serviceDomain.provider.ts");

/** A domain of Railway's that leads to a service. One that the service has already is taken over. */
export class ServiceDomain extends pulumi.dynamic.Resource {
  /** Without a scheme: `web-production.up.railway.app`. */
  declare readonly domain: pulumi.Output<string>;

  constructor(name: string, args: ServiceDomainArgs, opts?: pulumi.CustomResourceOptions) {
    super(implementation, name, { ...args, domain: undefined }, opts, "railway", "ServiceDomain");
  }
}
