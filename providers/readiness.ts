import * as pulumi from "@pulumi/pulumi";
import { provider } from "./dynamic.ts";

export interface ReadinessArgs {
  /** Lakekeeper's address, without a path and without a slash at the end. */
  readonly uri: pulumi.Input<string>;
  /** Names what serves there; when it is another, it is waited for again. */
  readonly instance: pulumi.Input<string>;
  /** How long to wait for the first good answer. Default 300. */
  readonly timeoutSeconds?: pulumi.Input<number>;
}

const implementation = provider("providers/readiness.provider.ts");

/** F1's gate: goes on once `GET /health` answers 200, as seen from where the stack is run. */
export class Readiness extends pulumi.dynamic.Resource {
  declare readonly instance: pulumi.Output<string>;

  constructor(name: string, args: ReadinessArgs, opts?: pulumi.CustomResourceOptions) {
    super(implementation, name, { timeoutSeconds: 300, ...args }, opts, "lakekeeper", "Readiness");
  }
}
