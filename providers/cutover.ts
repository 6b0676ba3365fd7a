import * as pulumi from "@pulumi/pulumi";
import { provider } from "./dynamic.ts";

/** `sql`: registered only. `read` (P2.3). `write` (P2.4): Lakekeeper commits. `retired` (P2.5): no SqlCatalog left. */
export type Phase = "sql" | "read" | "write" | "retired";

export interface CutoverArgs {
  readonly phase: pulumi.Input<Phase>;
}

const implementation = provider("providers/cutover.provider.ts");

/** Remembers how far the move from the SqlCatalog has gone, and refuses a way back that would read stale pointers. */
export class Cutover extends pulumi.dynamic.Resource {
  declare readonly phase: pulumi.Output<Phase>;

  constructor(name: string, args: CutoverArgs, opts?: pulumi.CustomResourceOptions) {
    super(implementation, name, { ...args }, opts, "lakekeeper", "Cutover");
  }
}
