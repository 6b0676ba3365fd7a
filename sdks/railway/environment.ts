import * as pulumi from "@pulumi/pulumi";
import { provider } from "../../providers/dynamic.ts";

export interface EnvironmentArgs {
  readonly name: pulumi.Input<string>;
  /** Another project replaces the environment. */
  readonly projectId: pulumi.Input<string>;
  /** Makes it a copy of this one, not deployed yet. Another one replaces the environment. */
  readonly sourceEnvironmentId?: pulumi.Input<string>;
}

const implementation = provider("sdks/railway/environment.provider.ts");

/** A further environment of a project; see `Project.defaultEnvironmentId` for the first one. */
export class Environment extends pulumi.dynamic.Resource {
  declare readonly name: pulumi.Output<string>;

  constructor(name: string, args: EnvironmentArgs, opts?: pulumi.CustomResourceOptions) {
    super(implementation, name, { ...args }, opts, "railway", "Environment");
  }
}
