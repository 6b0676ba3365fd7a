import * as pulumi from "@pulumi/pulumi";
import { provider } from "./dynamic.ts";

export interface ReleaseArgs {
  /** Lakekeeper's version, `0.13.3`. */
  readonly version: pulumi.Input<string>;
  /** Names the data: a database that was made anew may be of any release. */
  readonly database: pulumi.Input<string>;
  /** Name of the backup that the database has been restored from, when that is to allow an older version; else empty. */
  readonly restoredBackup: pulumi.Input<string>;
}

const implementation = provider("providers/release.provider.ts");

/** Remembers to which release a database has been migrated. There is no way down, so an older one is refused. */
export class Release extends pulumi.dynamic.Resource {
  declare readonly version: pulumi.Output<string>;

  constructor(name: string, args: ReleaseArgs, opts?: pulumi.CustomResourceOptions) {
    super(implementation, name, { ...args }, opts, "lakekeeper", "Release");
  }
}
