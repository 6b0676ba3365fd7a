import * as pulumi from "@pulumi/pulumi";
import { provider } from "./dynamic.ts";

export interface RandomSecretArgs {
  /** Random characters after the prefix: 16 to 1024. A change takes effect with the next generation. @default 40 */
  readonly length?: pulumi.Input<number>;
  /** Put before the random characters. A change takes effect with the next generation. @default "" */
  readonly prefix?: pulumi.Input<string>;
  /** Raise it to make a new value; nothing else ever does. @default 1 */
  readonly generation?: pulumi.Input<number>;
}

const implementation = provider("providers/randomSecret.provider.ts");

/** A random text of letters and digits, made once and kept in state. */
export class RandomSecret extends pulumi.dynamic.Resource {
  /** The text; secret. */
  declare readonly value: pulumi.Output<string>;

  constructor(name: string, args: RandomSecretArgs = {}, opts?: pulumi.CustomResourceOptions) {
    super(
      implementation,
      name,
      { length: 40, prefix: "", generation: 1, ...args, value: undefined },
      pulumi.mergeOptions(opts, { additionalSecretOutputs: ["value"] }),
      "lakekeeper",
      "RandomSecret",
    );
  }
}
