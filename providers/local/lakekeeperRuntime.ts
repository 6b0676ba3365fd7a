import * as pulumi from "@pulumi/pulumi";
import { provider } from "../dynamic.ts";

export interface LakekeeperRuntimeArgs {
  /** Path of the operator's own binary; nothing else takes its place when it cannot be used. @default "" */
  readonly binary?: string;
  /** The release to download when there is no binary. */
  readonly version: string;
  /** False: never ask the network for the official release. @default true */
  readonly download?: boolean;
  /** Base URL of GitHub's API. @default "https://api.github.com" */
  readonly api?: string;
  /** Where digests of downloaded archives are recorded. @default "lakekeeper.lock.json" */
  readonly lockFile?: string;
}

const implementation = provider("providers/local/lakekeeperRuntime.provider.ts");

/**
 * What runs as Lakekeeper on this machine: the operator's binary, `lakekeeper` on PATH, the official release, or else the
 * stand-in. The answer is kept until an input changes or the binary does.
 */
export class LakekeeperRuntime extends pulumi.dynamic.Resource {
  declare readonly kind: pulumi.Output<"binary" | "stand-in">;
  /** To be followed by `migrate`, `serve` and so on. */
  declare readonly command: pulumi.Output<string[]>;
  /** What its `version` prints, which may differ from what was asked for. */
  declare readonly runtimeVersion: pulumi.Output<string>;

  constructor(name: string, args: LakekeeperRuntimeArgs, opts?: pulumi.CustomResourceOptions) {
    super(
      implementation,
      name,
      {
        binary: "",
        download: true,
        api: "https://api.github.com",
        lockFile: "lakekeeper.lock.json",
        ...args,
        kind: undefined,
        command: undefined,
        runtimeVersion: undefined,
      },
      opts,
      "local",
      "LakekeeperRuntime",
    );
  }
}
