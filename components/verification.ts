import * as pulumi from "@pulumi/pulumi";
import type { Connection } from "../clients/token.ts";
import type { StackConfig } from "../config.ts";
import type { Storage } from "../platforms/platform.ts";
import type { Phase } from "../providers/cutover.ts";
import { digest } from "../providers/digest.ts";
import { Verification } from "../providers/verification.ts";
import type { Authentication, Subject } from "./authentication.ts";
import type { CatalogAuthorization } from "./authorization.ts";
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
  /** Where OpenFGA decides who may do what. */
  readonly authorization: CatalogAuthorization | undefined;
  /** Of the ml-runner, whose view is checked, and of Karma. Secret. */
  readonly tokens: Readonly<Record<Subject, pulumi.Output<string>>>;
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

    const { authentication, authorization, tokens } = args;
    const { grants } = authorization ?? {};

    const inputs = {
      connection: args.connection,
      readerToken: tokens["ml-runner"],
      // What was handed out is what is checked, unless clients get their tokens themselves, or need none.
      ...(!authentication.handsOutTokens && { reader: authentication.identity("ml-runner") }),
      ...(grants && {
        onlyReader: authentication.handsOutTokens
          ? pulumi.output({ kind: "token" as const, token: tokens.karma })
          : authentication.identity("karma"),
      }),
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
        ...(grants && { grants: grants.assignments.apply(digest) }),
      },
    };
    this.result = new Verification(name, inputs, {
      parent: this,
      dependsOn: grants === undefined ? tables : [tables, grants],
    });
    this.registerOutputs({ report: this.result.report });
  }
}
