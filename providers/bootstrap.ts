import * as pulumi from "@pulumi/pulumi";
import type { Connection } from "../clients/token.ts";
import { provider } from "./dynamic.ts";

export interface BootstrapArgs {
  /** How to reach the server, and as whom: the first caller becomes its administrator. Secret. */
  readonly connection: pulumi.Input<Connection>;
  /** Where OpenFGA decides who may do what; without it everybody with a valid token may do everything. */
  readonly authorization?: BootstrapAuthorization | undefined;
  /** Whose tokens the server takes, the provider in use first: when that one is dropped, the preview says so. */
  readonly issuers: readonly string[];
}

export interface BootstrapAuthorization {
  /** Lakekeeper's name of the caller, who may do everything: `oidc~deployer`. */
  readonly operator: pulumi.Input<string>;
  /** Of OpenFGA, as Lakekeeper is told. */
  readonly endpoint: string;
  readonly storeName: pulumi.Input<string>;
}

const implementation = provider("providers/bootstrap.provider.ts");

/** The first use of a fresh Lakekeeper server, which accepts its terms and makes the default project. */
export class Bootstrap extends pulumi.dynamic.Resource {
  /** Identity of the server's database. */
  declare readonly serverId: pulumi.Output<string>;
  /** Version of Lakekeeper that answered. */
  declare readonly version: pulumi.Output<string>;

  constructor(name: string, args: BootstrapArgs, opts?: pulumi.CustomResourceOptions) {
    const { connection, authorization, issuers } = args;
    const outputs = { serverId: undefined, version: undefined };
    super(
      implementation,
      name,
      { connection: pulumi.secret(connection), ...(authorization && { authorization }), issuers, ...outputs },
      pulumi.mergeOptions(opts, { additionalSecretOutputs: ["connection"] }),
      "lakekeeper",
      "Bootstrap",
    );
  }
}
