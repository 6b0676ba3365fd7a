import * as pulumi from "@pulumi/pulumi";
import type { Connection } from "../clients/token.ts";
import { provider } from "./dynamic.ts";

export interface BootstrapArgs {
  /** How to reach the server, and as whom: the first caller becomes its administrator. Secret. */
  readonly connection: pulumi.Input<Connection>;
  /** The authorization backend, of which the caller becomes operator. Without one every caller may do everything. */
  readonly authorization?: "openfga";
}

const implementation = provider("providers/bootstrap.provider.ts");

/** The first use of a fresh Lakekeeper server, which accepts its terms and makes the default project. */
export class Bootstrap extends pulumi.dynamic.Resource {
  /** Identity of the server's database. */
  declare readonly serverId: pulumi.Output<string>;
  /** Version of Lakekeeper that answered. */
  declare readonly version: pulumi.Output<string>;

  constructor(name: string, args: BootstrapArgs, opts?: pulumi.CustomResourceOptions) {
    const outputs = { serverId: undefined, version: undefined };
    super(
      implementation,
      name,
      { ...args, connection: pulumi.secret(args.connection), ...outputs },
      pulumi.mergeOptions(opts, { additionalSecretOutputs: ["connection"] }),
      "lakekeeper",
      "Bootstrap",
    );
  }
}
