import * as pulumi from "@pulumi/pulumi";
import type { Connection } from "../clients/token.ts";
import { Grants } from "../providers/grants.ts";
import type { Authentication, Subject } from "./authentication.ts";
import type { Protection } from "./protection.ts";
import type { LakekeeperWarehouse } from "./warehouse.ts";

export interface CatalogAuthorizationArgs {
  /** Of the deployer, who is operator and so may grant. Secret. */
  readonly connection: pulumi.Input<Connection>;
  readonly authentication: Authentication;
  readonly warehouse: LakekeeperWarehouse;
  readonly protection: Protection;
}

/** Relations to the warehouse. `modify` commits and reads, and makes nothing new; `create` does, and reads nothing. */
const WRITE = ["create", "modify"];
const READ = ["select"];

/** `authz.mode: openfga`. What the catalog's clients may do in the warehouse; all others may do nothing. */
export class CatalogAuthorization extends pulumi.ComponentResource {
  readonly grants: Grants;

  constructor(name: string, args: CatalogAuthorizationArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakekeeper:index:Authorization", name, {}, opts);
    const { warehouse, authentication, protection } = args;
    const to = (subject: Subject, types: string[]) => {
      const user = authentication.user(subject);
      return types.map((type) => ({ type, user }));
    };
    this.grants = new Grants(
      `${name}-grants`,
      {
        connection: args.connection,
        warehouse: warehouse.clientName,
        warehouseId: warehouse.warehouse.warehouseId,
        assignments: [...to("ml-runner", WRITE), ...to("karma", READ)],
      },
      // A warehouse that is left goes on being used.
      { parent: this, retainOnDelete: protection.protect === true },
    );
    this.registerOutputs({});
  }
}
