import * as pulumi from "@pulumi/pulumi";
import type { Connection } from "../clients/token.ts";
import { Grants } from "../providers/grants.ts";
import type { Authentication, TrustedProvider } from "./authentication.ts";
import type { LakekeeperWarehouse } from "./warehouse.ts";

export interface AuthorizationArgs {
  /** As the operator. Secret. */
  readonly connection: pulumi.Input<Connection>;
  readonly warehouse: LakekeeperWarehouse;
  readonly authentication: Authentication;
  readonly trusted: TrustedProvider;
}

/** Makes namespaces and tables, and commits to them; what may be changed may be read. */
const WRITE = ["create", "modify"];
const READ = ["select"];

/** `authz: openfga`. What each client may do in the warehouse; without it every client may do everything. */
export class Authorization extends pulumi.ComponentResource {
  readonly grants: Grants;

  constructor(name: string, args: AuthorizationArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakekeeper:index:Authorization", name, {}, opts);
    const { connection, warehouse, authentication, trusted } = args;
    this.grants = new Grants(
      `${name}-grants`,
      {
        connection,
        warehouseId: warehouse.warehouse.warehouseId,
        grantees: [
          { identity: authentication.identity("ml-runner"), relations: WRITE },
          { identity: authentication.identity("karma"), relations: READ },
        ],
        subjectClaims: trusted.subjectClaims,
      },
      { parent: this },
    );
    this.registerOutputs({});
  }
}
