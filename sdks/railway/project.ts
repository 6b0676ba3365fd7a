import * as pulumi from "@pulumi/pulumi";
import { provider } from "../../providers/dynamic.ts";

export interface ProjectArgs {
  readonly name: pulumi.Input<string>;
  /** Needed when the token reaches several workspaces. Another one replaces the project. */
  readonly workspaceId?: pulumi.Input<string>;
  /** Not given, it is left as it is. */
  readonly description?: pulumi.Input<string>;
  /** Not given, Railway calls it "production". */
  readonly defaultEnvironmentName?: pulumi.Input<string>;
  /** @default true */
  readonly private?: pulumi.Input<boolean>;
  /** Environments for pull requests. @default false */
  readonly hasPrDeploys?: pulumi.Input<boolean>;
  /** Id of an existing project to work in. It is never deleted. */
  readonly adoptId?: pulumi.Input<string>;
  /** `grace`: it can be had back for 48 hours. @default immediate */
  readonly deletionMode?: pulumi.Input<"immediate" | "grace">;
}

const implementation = provider("sdks/railway/project.provider.ts");

/** A project of Railway. Services belong to all its environments, so each stack needs one of its own. */
export class Project extends pulumi.dynamic.Resource {
  /** The environment that it was made with. */
  declare readonly defaultEnvironmentId: pulumi.Output<string>;
  declare readonly name: pulumi.Output<string>;

  constructor(name: string, args: ProjectArgs, opts?: pulumi.CustomResourceOptions) {
    super(implementation, name, { ...args, defaultEnvironmentId: undefined }, opts, "railway", "Project");
  }
}
