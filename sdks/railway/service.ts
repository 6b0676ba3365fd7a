import * as pulumi from "@pulumi/pulumi";
import { provider } from "../../providers/dynamic.ts";
import type { ServiceSettings } from "./service.settings.ts";

export type { ServiceSettings };

/** See `ServiceSettings` for what each setting means. */
export type ServiceArgs = { readonly [Key in keyof ServiceSettings]: pulumi.Input<ServiceSettings[Key]> } & {
  /** At most 32 characters. It is the service's private name and what references to its variables begin with. */
  readonly name: pulumi.Input<string>;
  /** Another project replaces the service. */
  readonly projectId: pulumi.Input<string>;
  /** Another environment replaces the service. */
  readonly environmentId: pulumi.Input<string>;
  readonly icon?: pulumi.Input<string>;
  /** Take over a service that has this name already; false for a project that is not this stack's own. @default true */
  readonly adopt?: pulumi.Input<boolean>;
};

const implementation = provider("sdks/railway/service.provider.ts");

/** A service and its settings. It deploys nothing: a `Deployment` does, once variables and volume are there. */
export class Service extends pulumi.dynamic.Resource {
  declare readonly name: pulumi.Output<string>;

  constructor(name: string, args: ServiceArgs, opts?: pulumi.CustomResourceOptions) {
    super(
      implementation,
      name,
      { ...args, observed: undefined },
      pulumi.mergeOptions(opts, { additionalSecretOutputs: ["registryCredentials"] }),
      "railway",
      "Service",
    );
  }
}
