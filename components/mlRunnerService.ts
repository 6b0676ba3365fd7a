import * as pulumi from "@pulumi/pulumi";
import * as railway from "@pulumiverse/railway";
import type { StackConfig } from "../config.ts";
import type { MlRunnerEnvironment } from "./mlRunner.ts";

export interface MlRunnerServiceArgs {
  readonly service: NonNullable<StackConfig["mlRunner"]>;
  readonly environment: { readonly [Name in keyof MlRunnerEnvironment]: pulumi.Output<string> };
  /** Secret. */
  readonly karmaToken: pulumi.Output<string>;
  readonly timeoutSeconds: number;
}

/**
 * The variables written to the ml-runner's own service on Railway, beside those it has already. The service itself is
 * somebody else's: it is neither made nor deleted here.
 */
export class MlRunnerService extends pulumi.ComponentResource {
  constructor(name: string, args: MlRunnerServiceArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakekeeper:index:MlRunnerService", name, {}, opts);
    const { deploy, ...place } = args.service;
    const variables = new railway.VariableCollection(
      `${name}-variables`,
      { ...place, variables: pulumi.secret({ ...args.environment, KARMA_CATALOG_TOKEN: args.karmaToken }) },
      { parent: this },
    );
    if (deploy) {
      new railway.Deployment(
        `${name}-deployment`,
        {
          ...place,
          what: "ml-runner",
          waitFor: "running",
          timeoutSeconds: args.timeoutSeconds,
          triggers: { variables: variables.version },
        },
        { parent: this },
      );
    }
    this.registerOutputs({});
  }
}
