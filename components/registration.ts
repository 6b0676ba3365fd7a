import * as pulumi from "@pulumi/pulumi";
import { UserError } from "../clients/errors.ts";
import { readSqlCatalog } from "../clients/sqlCatalog.ts";
import type { Connection } from "../clients/token.ts";
import type { Platform } from "../platforms/platform.ts";
import type { Phase } from "../providers/cutover.ts";
import type { Protection } from "./protection.ts";
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
  readonly namespaces: string[];
  readonly concurrency: number;
  readonly allowUnregister: boolean;
  readonly phase: Phase;
  readonly protection: Protection;
}

/**
 * P2.2: every table of the SqlCatalog, registered under its current metadata file. Pointers, not data.
 *
 * They are followed until Lakekeeper commits (P2.4): the run that enters that phase registers the SqlCatalog's last
 * pointers, and from then on they are history. What is registered stays, whatever happens to this resource.
 */
export class Registration extends pulumi.ComponentResource {
  readonly tables: Tables;

  constructor(name: string, args: RegistrationArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakekeeper:index:Registration", name, {}, opts);
    const { phase } = args;
    const lakekeeperCommits = phase === "write" || phase === "retired";
    const pointers = pulumi.output(phase === "retired" ? { unreadable: RETIRED } : readPointers(args));
    this.tables = new Tables(
      name,
      {
        connection: args.connection,
        warehouseId: args.warehouse.warehouse.warehouseId,
        location: args.warehouse.warehouse.location,
        // The engine knows a table's pointer before it touches one, so that a preview shows which ones moved.
        tables: pointers.apply((read) => read.tables ?? {}),
        unreadable: pointers.apply((read) => read.unreadable ?? ""),
        final: lakekeeperCommits,
        allowUnregister: args.allowUnregister,
        concurrency: args.concurrency,
      },
      pulumi.mergeOptions(
        { parent: this, dependsOn: args.warehouse.namespaces },
        lakekeeperCommits ? { ...args.protection, retainOnDelete: true } : {},
      ),
    );
    this.registerOutputs({});
  }
}

const RETIRED =
  "lakekeeper:cutover is retired, but the SqlCatalog's last pointers have not been registered: go through the phase write first";

/** Why they cannot be read is handed on as well, since from P2.4 on they are not needed any more. */
async function readPointers(args: RegistrationArgs): Promise<{ tables?: Record<string, string>; unreadable?: string }> {
  try {
    const { tables } = await readSqlCatalog({ uri: await sqlCatalogUri(args), catalogName: args.sqlCatalogName });
    const missing = new Set(Object.keys(tables).map(namespaceOf));
    for (const namespace of args.namespaces) missing.delete(namespace);
    if (missing.size === 0) return { tables };
    const wanted = [...args.namespaces, ...missing].map((namespace) => JSON.stringify(namespace)).join(", ");
    return {
      unreadable:
        `the SqlCatalog has tables in ${[...missing].join(", ")}, which lakekeeper:namespaces does not name. ` +
        `Set lakekeeper:namespaces to [${wanted}]`,
    };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { unreadable: error.message };
  }
}

function namespaceOf(table: string): string {
  return table.slice(0, table.lastIndexOf("."));
}

async function sqlCatalogUri({ sqlCatalog, platform }: RegistrationArgs): Promise<string> {
  const uri = sqlCatalog || (await platform.sampleCatalog?.());
  if (uri !== undefined) return uri;
  throw new UserError(
    "lakekeeper:sqlCatalog is not set: it must be the SQLAlchemy URI of the SqlCatalog whose tables are to be registered, " +
      "such as postgresql://reader:password@host/database (set it with --secret)",
  );
}
