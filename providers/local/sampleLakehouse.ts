import * as pulumi from "@pulumi/pulumi";
import { provider } from "../dynamic.ts";

export interface SampleLakehouseArgs {
  /** Base URL of the S3 API. */
  readonly endpoint: pulumi.Input<string>;
  /** It must exist. */
  readonly bucket: pulumi.Input<string>;
  /** @default "auto" */
  readonly region?: pulumi.Input<string>;
  readonly accessKeyId: pulumi.Input<string>;
  /** Secret. */
  readonly secretAccessKey: pulumi.Input<string>;
}

const implementation = provider("providers/local/sampleLakehouse.provider.ts");

/**
 * The committed sample lakehouse in a bucket. An object that is there is never touched, and deleting the resource leaves
 * every object where it is.
 */
export class SampleLakehouse extends pulumi.dynamic.Resource {
  /** How many objects the sample has. */
  declare readonly objects: pulumi.Output<number>;

  constructor(name: string, args: SampleLakehouseArgs, opts?: pulumi.CustomResourceOptions) {
    super(
      implementation,
      name,
      {
        region: "auto",
        ...args,
        secretAccessKey: pulumi.secret(args.secretAccessKey),
        sampleDigest: undefined,
        objects: undefined,
      },
      pulumi.mergeOptions(opts, { additionalSecretOutputs: ["secretAccessKey"] }),
      "local",
      "SampleLakehouse",
    );
  }
}
