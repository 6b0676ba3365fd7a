import * as pulumi from "@pulumi/pulumi";
import type { Protection } from "./protection.ts";
import type { Storage } from "../platforms/platform.ts";
import type { Connection } from "../clients/token.ts";
import { CredentialOverlap } from "../providers/credentialOverlap.ts";
import { Namespaces } from "../providers/namespaces.ts";
import { Warehouse } from "../providers/warehouse.ts";

export interface LakekeeperWarehouseArgs {
  /** Secret. */
  readonly connection: pulumi.Input<Connection>;
  /** Name of the warehouse, which clients send. */
  readonly warehouse: string;
  readonly storage: Storage;
  /** Dotted names; parents are made first. */
  readonly namespaces: string[];
  readonly allowReplace: boolean;
  readonly protection: Protection;
}

/** Lakekeeper keeps a warehouse, its credential with it, for as long in memory. */
const CACHE_SECONDS = 60;

/** F2: the warehouse on the bucket, and the namespaces that the tables will be registered in. */
export class LakekeeperWarehouse extends pulumi.ComponentResource {
  /** What clients send. */
  readonly clientName: string;
  readonly warehouse: Warehouse;
  readonly namespaces: Namespaces;

  constructor(name: string, args: LakekeeperWarehouseArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakekeeper:index:Warehouse", name, {}, opts);
    this.clientName = args.warehouse;
    const { protection } = args;
    const kept = { parent: this, ...protection, retainOnDelete: protection.protect === true };
    this.warehouse = new Warehouse(
      name,
      {
        connection: args.connection,
        name: args.warehouse,
        storageProfile: args.storage.profile,
        storageCredential: args.storage.credential,
        allowReplace: args.allowReplace,
        protected: protection.protect === true,
      },
      pulumi.mergeOptions(kept, { dependsOn: args.storage.ready }),
    );
    if (args.storage.isRotated === true) {
      const lifetime = pulumi.output(args.storage.profile).apply((profile) => profile.stsTokenValiditySeconds ?? 3600);
      new CredentialOverlap(
        `${name}-credential-overlap`,
        { credential: this.warehouse.credentialHash, seconds: lifetime.apply((seconds) => seconds + CACHE_SECONDS) },
        { parent: this },
      );
    }
    this.namespaces = new Namespaces(
      `${name}-namespaces`,
      {
        connection: args.connection,
        warehouse: args.warehouse,
        warehouseId: this.warehouse.warehouseId,
        namespaces: args.namespaces,
      },
      kept,
    );
    this.registerOutputs({ warehouseId: this.warehouse.warehouseId });
  }
}
