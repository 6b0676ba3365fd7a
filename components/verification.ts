import * as pulumi from "@pulumi/pulumi";
import type { Connection } from "../clients/token.ts";
import type { StackConfig } from "../config.ts";
import type { Storage } from "../platforms/platform.ts";
import type { Phase } from "../providers/cutover.ts";
import { digest } from "../providers/digest.ts";
import { Verification } from "../providers/verification.ts";
import type { Authentication } from "./authentication.ts";
import type { LakekeeperLifecycle } from "./lifecycle.ts";
import type { Registration } from "./registration.ts";
import type { LakekeeperWarehouse } from "./warehouse.ts";

export interface CatalogVerificationArgs {
  /** Secret. */
  readonly connection: pulumi.Input<Connection>;
  readonly lifecycle: LakekeeperLifecycle;
  readonly warehouse: LakekeeperWarehouse;
  readonly registration: Registration;
  readonly storage: Storage;
  readonly authentication: Authentication;
  /** The ml-runner's token, whose view is checked. Secret. */
  readonly readerToken: pulumi.Output<string>;
  readonly namespaces: string[];
  readonly vending: StackConfig["vending"];
  /** `smokeTable` is the first registered table when it is not given. */
  readonly verification: StackConfig["verification"];
  readonly phase: Phase;
}

/** F4: proof, before anyone is pointed at it, that the catalog does what the runbook asks of it. */
export class CatalogVerification extends pulumi.ComponentResource {
  readonly result: Verification;

  constructor(name: string, args: CatalogVerificationArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakekeeper:index:Verification", name, {}, opts);
    const { warehouse } = args.warehouse;
    const { tables } = args.registration;
    const { profile, credential } = args.storage;

    const inputs = {
      connection: args.connection,
      readerToken: args.readerToken,
      // What was handed out is what is checked, unless clients get their tokens themselves, or need none.
      ...(!args.authentication.handsOutTokens && { reader: args.authentication.identity("ml-runner") }),
      warehouse: args.warehouse.clientName,
      warehouseId: warehouse.warehouseId,
      location: warehouse.location,
      namespaces: args.namespaces,
      smokeTable: args.verification.smokeTable ?? tables.registered.apply((all) => Object.keys(all).sort()[0] ?? ""),
      // From P2.3 on the ml-runner reads tables here.
      tableRequired: args.phase !== "sql",
      vending: args.vending,
      writeProbe: args.verification.writeProbe,
      storage: pulumi.secret(
        pulumi.all([profile, credential]).apply(([{ endpoint, region }, { accessKeyId, secretAccessKey }]) => ({
          endpoint,
          region,
          accessKeyId,
          secretAccessKey,
        })),
      ),
      triggers: {
        instance: args.lifecycle.instance,
        // Of the inputs, which a preview knows. Digests, for a preview prints what changed.
        storage: pulumi.all([profile, credential]).apply(digest),
        tables: tables.registered.apply(digest),
      },
    };
    this.result = new Verification(name, inputs, { parent: this, dependsOn: tables });
    this.registerOutputs({ report: this.result.report });
  }
}
