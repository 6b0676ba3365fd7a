import * as pulumi from "@pulumi/pulumi";
import { UserError } from "../clients/errors.ts";
import { readSqlCatalog } from "../clients/sqlCatalog.ts";
import type { Connection } from "../clients/token.ts";
import type { Platform } from "../platforms/platform.ts";
import type { LakekeeperWarehouse } from "./warehouse.ts";
import { Tables } from "../providers/tables.ts";

export interface RegistrationArgs {
  /** Secret. */
  readonly connection: pulumi.Input<Connection>;
  readonly warehouse: LakekeeperWarehouse;
  readonly platform: Platform;
  /** SQLAlchemy URI of the database that holds the pointers today; empty for the platform's sample. */
  readonly sqlCatalog: string;
  /** The catalog's name in it; empty when there is only one. */
  readonly sqlCatalogName: string;
  readonly concurrency: number;
  /** From P2.4 on. */
  readonly lakekeeperCommits: boolean;
}

/**
 * P2.2: every table of the SqlCatalog, registered under its current metadata file. Pointers, not data.
 *
 * Once Lakekeeper commits (P2.4) the SqlCatalog's pointers are history: they are not looked at any more, and what is
 * registered stays, whatever happens to this resource.
 */
export class Registration extends pulumi.ComponentResource {
  readonly tables: Tables;

  constructor(name: string, args: RegistrationArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakekeeper:index:Registration", name, {}, opts);
    const { lakekeeperCommits } = args;
    this.tables = new Tables(
      name,
      {
        connection: args.connection,
        warehouseId: args.warehouse.warehouse.warehouseId,
        location: args.warehouse.warehouse.location,
        // The engine knows a table's pointer before it touches one, so that a preview shows which ones moved.
        tables: lakekeeperCommits ? {} : readPointers(args),
        concurrency: args.concurrency,
      },
      {
        parent: this,
        dependsOn: args.warehouse.namespaces,
        ...(lakekeeperCommits && { ignoreChanges: ["tables"], protect: true, retainOnDelete: true }),
      },
    );
    this.registerOutputs({});
  }
}

async function readPointers(args: RegistrationArgs): Promise<Record<string, string>> {
  const uri = args.sqlCatalog || (await args.platform.sampleCatalog?.());
  if (uri === undefined) {
    throw new UserError(
      "lakekeeper:sqlCatalog is not set: it must be the SQLAlchemy URI of the SqlCatalog whose tables are to be registered. " +
        "pulumi config set --secret lakekeeper:sqlCatalog postgresql://...",
    );
  }
  return (await readSqlCatalog({ uri, catalogName: args.sqlCatalogName })).tables;
}
