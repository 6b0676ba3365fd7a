import * as pulumi from "@pulumi/pulumi";
import type { Phase } from "../providers/cutover.ts";
import { after } from "../providers/after.ts";
import type { Verification } from "../providers/verification.ts";

/** The environment of the ml-runner, by the names its `catalog_config_from_env` reads. */
export interface MlRunnerEnvironment {
  LAKEHOUSE_CATALOG_TYPE: string;
  LAKEHOUSE_REST_URI: string;
  LAKEHOUSE_REST_WAREHOUSE: string;
  LAKEHOUSE_CATALOG_TOKEN: string;
  LAKEHOUSE_REST_VENDING: string;
}

export interface MlRunnerArgs {
  /** `https://<lakekeeper>/catalog`. */
  readonly catalogUrl: pulumi.Input<string>;
  readonly warehouse: string;
  /** Secret. */
  readonly token: pulumi.Input<string>;
  readonly verification: Verification;
  /** How far the move has gone. */
  readonly phase: pulumi.Output<Phase>;
}

/**
 * Section 3, the flip: the five variables that point the ml-runner at Lakekeeper.
 *
 * `LAKEHOUSE_CATALOG_TYPE` stays `sql` until the phase `read`; `LAKEHOUSE_REST_VENDING` is `1` only once vended
 * credentials were seen to read a real table and nothing beside it.
 */
export class MlRunner extends pulumi.ComponentResource {
  readonly environment: { readonly [Name in keyof MlRunnerEnvironment]: pulumi.Output<string> };

  constructor(name: string, args: MlRunnerArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakekeeper:index:MlRunner", name, {}, opts);
    const { verification } = args;
    this.environment = {
      // Nobody is pointed at a catalog before it has been proven.
      LAKEHOUSE_CATALOG_TYPE: after(verification, args.phase).apply((phase) => (phase === "sql" ? "sql" : "rest")),
      LAKEHOUSE_REST_URI: pulumi.output(args.catalogUrl),
      LAKEHOUSE_REST_WAREHOUSE: pulumi.output(args.warehouse),
      LAKEHOUSE_CATALOG_TOKEN: pulumi.secret(args.token),
      LAKEHOUSE_REST_VENDING: verification.vendingVerified.apply((verified) => (verified ? "1" : "0")),
    };
    this.registerOutputs({});
  }
}
