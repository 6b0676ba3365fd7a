import * as pulumi from "@pulumi/pulumi";
import { provider } from "../../providers/dynamic.ts";

export interface TcpProxyArgs {
  readonly projectId: pulumi.Input<string>;
  readonly environmentId: pulumi.Input<string>;
  readonly serviceId: pulumi.Input<string>;
  /** The port that the service listens on. Any other input replaces the proxy; the old one is deleted first. */
  readonly applicationPort: pulumi.Input<number>;
}

const implementation = provider("sdks/railway/tcpProxy.provider.ts");

/** A public port that leads to a service's own. A service has one at most; one that it has already is taken over. */
export class TcpProxy extends pulumi.dynamic.Resource {
  /** Host to connect to. */
  declare readonly domain: pulumi.Output<string>;
  /** Port to connect to. */
  declare readonly proxyPort: pulumi.Output<number>;

  constructor(name: string, args: TcpProxyArgs, opts?: pulumi.CustomResourceOptions) {
    super(implementation, name, { ...args, domain: undefined, proxyPort: undefined }, opts, "railway", "TcpProxy");
  }
}
