import * as pulumi from "@pulumi/pulumi";
import type { Assignment } from "../clients/lakekeeper.ts";
import type { Connection } from "../clients/token.ts";
import { provider } from "./dynamic.ts";

export interface GrantsArgs {
  /** How to reach the catalog, as somebody who may grant. Secret. */
  readonly connection: pulumi.Input<Connection>;
  /** Name of the warehouse, for messages. */
  readonly warehouse: pulumi.Input<string>;
  readonly warehouseId: pulumi.Input<string>;
  /** Who is to have which relation to the warehouse, and with it to all that is in it. */
  readonly assignments: { readonly type: string; readonly user: pulumi.Input<string> }[];
}

const implementation = provider("providers/grants.provider.ts");

/**
 * What users may do in a warehouse, where OpenFGA decides. What others have granted is left alone; what is there already
 * is adopted, and stays when this resource goes.
 */
export class Grants extends pulumi.dynamic.Resource {
  /** Those that are there, as last seen. */
  declare readonly assignments: pulumi.Output<Assignment[]>;
  /** Those that this stack has made. */
  declare readonly owned: pulumi.Output<Assignment[]>;

  constructor(name: string, args: GrantsArgs, opts?: pulumi.CustomResourceOptions) {
    super(
      implementation,
      name,
      { ...args, connection: pulumi.secret(args.connection), owned: undefined },
      pulumi.mergeOptions(opts, { additionalSecretOutputs: ["connection"] }),
      "lakekeeper",
      "Grants",
    );
  }
}
