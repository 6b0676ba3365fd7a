import * as pulumi from "@pulumi/pulumi";
import { provider } from "./dynamic.ts";
import type { StorageCredential } from "./warehouse.ts";

export interface R2AccessArgs {
  /** Unknown until it is there. */
  readonly bucket: pulumi.Input<string>;
  /** URL of the S3 API, without the bucket. */
  readonly endpoint: pulumi.Input<string>;
  readonly jurisdiction: pulumi.Input<"default" | "eu" | "fedramp">;
  /** Of the type `cloudflare-r2`. Secret. */
  readonly credential: pulumi.Input<StorageCredential>;
}

const implementation = provider("providers/r2Access.provider.ts");

/**
 * Tries, in the preview where all of it is known and always before a warehouse is made on it, what Lakekeeper will do with a bucket: reach it with the token's keys, mint a
 * temporary credential at Cloudflare, and read with that. Says which part is wrong.
 */
export class R2Access extends pulumi.dynamic.Resource {
  constructor(name: string, args: R2AccessArgs, opts?: pulumi.CustomResourceOptions) {
    super(
      implementation,
      name,
      { ...args, credential: pulumi.secret(args.credential) },
      pulumi.mergeOptions(opts, { additionalSecretOutputs: ["credential"] }),
      "lakekeeper",
      "R2Access",
    );
  }
}
