import * as pulumi from "@pulumi/pulumi";
import { provider } from "../../providers/dynamic.ts";

export interface VariableCollectionArgs {
  readonly projectId: pulumi.Input<string>;
  readonly environmentId: pulumi.Input<string>;
  /** Another service replaces the collection. */
  readonly serviceId: pulumi.Input<string>;
  /** By name. References to other services' variables, `${{Postgres.PGHOST}}`, are kept as they are. Secret. */
  readonly variables: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** Remove all other variables of the service. @default false */
  readonly exclusive?: pulumi.Input<boolean>;
}

const implementation = provider("sdks/railway/variableCollection.provider.ts");

/** Variables of a service, beside those that others have set. They count from its next deployment on. */
export class VariableCollection extends pulumi.dynamic.Resource {
  /** Another one whenever the variables were set; a deployment's trigger. It tells nothing about them. */
  declare readonly version: pulumi.Output<string>;

  constructor(name: string, args: VariableCollectionArgs, opts?: pulumi.CustomResourceOptions) {
    super(
      implementation,
      name,
      { ...args, version: undefined },
      pulumi.mergeOptions(opts, { additionalSecretOutputs: ["variables"] }),
      "railway",
      "VariableCollection",
    );
  }
}
