import * as pulumi from "@pulumi/pulumi";
import { provider } from "../../providers/dynamic.ts";

export interface DeploymentArgs {
  readonly projectId: pulumi.Input<string>;
  readonly environmentId: pulumi.Input<string>;
  readonly serviceId: pulumi.Input<string>;
  /** Whenever something in here is another, the service is deployed anew. */
  readonly triggers?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /**
   * `running`: it has started and, with a health check, answered. `completed`: it has done its work and ended without
   * an error, which is more than Railway's SUCCESS says.
   */
  readonly waitFor: pulumi.Input<"running" | "completed">;
  /** @default 1200 */
  readonly timeoutSeconds?: pulumi.Input<number>;
  /** A backup that is made, and awaited, before the service is deployed anew. */
  readonly backupBefore?: pulumi.Input<{
    readonly volumeInstanceId: pulumi.Input<string>;
    readonly name: pulumi.Input<string>;
  }>;
  /** What messages call it, such as the service's name. @default its id */
  readonly what?: pulumi.Input<string>;
}

const implementation = provider("sdks/railway/deployment.provider.ts");

/** The deployment of a service: made when something it depends on has changed, and awaited. */
export class Deployment extends pulumi.dynamic.Resource {
  /** Of the latest one. */
  declare readonly deploymentId: pulumi.Output<string>;
  declare readonly status: pulumi.Output<string>;
  /** Its public domain, if it has one. */
  declare readonly url: pulumi.Output<string | undefined>;

  constructor(name: string, args: DeploymentArgs, opts?: pulumi.CustomResourceOptions) {
    const outputs = { deploymentId: undefined, status: undefined, url: undefined };
    super(implementation, name, { ...args, ...outputs }, opts, "railway", "Deployment");
  }
}
