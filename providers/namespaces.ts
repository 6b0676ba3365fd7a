import * as pulumi from "@pulumi/pulumi";
import type { Connection } from "../clients/token.ts";
import { provider } from "./dynamic.ts";

export interface NamespacesArgs {
  /** How to reach the catalog. Secret. */
  readonly connection: pulumi.Input<Connection>;
  /** Name of the warehouse, for messages. */
  readonly warehouse: pulumi.Input<string>;
  readonly warehouseId: pulumi.Input<string>;
  /** Dotted names, as in `main.default`. Parents are made too, before their children. */
  readonly namespaces: pulumi.Input<pulumi.Input<string>[]>;
}

const implementation = provider("providers/namespaces.provider.ts");

/** The namespaces of a warehouse. Those that are there already are adopted, and stay when this resource goes. */
export class Namespaces extends pulumi.dynamic.Resource {
  /** Those that are there, as last seen. */
  declare readonly namespaces: pulumi.Output<string[]>;
  /** Those that this stack has made, parents included. */
  declare readonly owned: pulumi.Output<string[]>;

  constructor(name: string, args: NamespacesArgs, opts?: pulumi.CustomResourceOptions) {
    super(
      implementation,
      name,
      { ...args, connection: pulumi.secret(args.connection), owned: undefined },
      pulumi.mergeOptions(opts, { additionalSecretOutputs: ["connection"] }),
      "lakekeeper",
      "Namespaces",
    );
  }
}
