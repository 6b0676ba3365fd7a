import * as pulumi from "@pulumi/pulumi";
import type { Connection } from "../clients/token.ts";
import { provider } from "./dynamic.ts";

export interface TablesArgs {
  /** How to reach the catalog. Secret. */
  readonly connection: pulumi.Input<Connection>;
  readonly warehouseId: pulumi.Input<string>;
  /** `s3://bucket[/prefix]` of the warehouse, below which every pointer must lie. */
  readonly location: pulumi.Input<string>;
  /** From table, as in `main.default.events`, to its current metadata file (`s3://.../metadata/....metadata.json`). */
  readonly tables: pulumi.Input<Record<string, string>>;
  /** Why `tables` could not be told, for the preview; empty when it could. */
  readonly unreadable?: pulumi.Input<string>;
  /** The run that this is first set in registers these pointers, and no later run moves a table by any others. */
  readonly final?: pulumi.Input<boolean>;
  /** Without it, a run that would unregister most of the tables is refused: more likely the pointers are wrong. */
  readonly allowUnregister?: pulumi.Input<boolean>;
  /** Tables registered side by side, 1 to 32. On R2 each one costs Lakekeeper a call to Cloudflare. @default 8 */
  readonly concurrency?: pulumi.Input<number>;
}

const implementation = provider("providers/tables.provider.ts");

/** A set of tables whose metadata exists already, registered in a warehouse. Their files are never touched. */
export class Tables extends pulumi.dynamic.Resource {
  /** From table to the pointer that the catalog has for it, or to an older one that it has moved on from by itself. */
  declare readonly registered: pulumi.Output<Record<string, string>>;
  /** From table to its UUID. */
  declare readonly tableUuids: pulumi.Output<Record<string, string>>;
  /** The final pointers have been registered. */
  declare readonly sealed: pulumi.Output<boolean>;

  constructor(name: string, args: TablesArgs, opts?: pulumi.CustomResourceOptions) {
    super(
      implementation,
      name,
      {
        ...args,
        connection: pulumi.secret(args.connection),
        registered: undefined,
        tableUuids: undefined,
        sealed: undefined,
      },
      pulumi.mergeOptions(opts, { additionalSecretOutputs: ["connection"] }),
      "lakekeeper",
      "Tables",
    );
  }
}
