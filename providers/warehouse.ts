import * as pulumi from "@pulumi/pulumi";
import type { Connection } from "../clients/token.ts";
import { provider } from "./dynamic.ts";
import {
  locationOf,
  normalProfile,
  type DeleteProfile,
  type StorageCredential,
  type StorageProfile,
} from "./warehouse.profile.ts";

export type { DeleteProfile, StorageCredential, StorageProfile };

export interface WarehouseArgs {
  /** How to reach the catalog. Secret. */
  readonly connection: pulumi.Input<Connection>;
  /** What clients call it. A warehouse that has this name already, in whatever case, is adopted. */
  readonly name: pulumi.Input<string>;
  readonly storageProfile: pulumi.Input<StorageProfile>;
  /** Secret. A new one is stored without touching the rest. */
  readonly storageCredential: pulumi.Input<StorageCredential>;
  /** What happens to dropped tables. @default hard */
  readonly deleteProfile?: pulumi.Input<DeleteProfile>;
  /** Let a change of bucket or key prefix delete this warehouse and make another. @default false */
  readonly allowReplace?: pulumi.Input<boolean>;
  /** Have Lakekeeper refuse to delete it. Not given, the flag is left as it is. */
  readonly protected?: pulumi.Input<boolean>;
}

const implementation = provider("providers/warehouse.provider.ts");

/** A warehouse of Lakekeeper on an S3 bucket. */
export class Warehouse extends pulumi.dynamic.Resource {
  /** `s3://bucket[/prefix]`, below which every table must lie. From the inputs, so that a preview knows it. */
  readonly location: pulumi.Output<string>;
  /** Tells which credential was stored last, without revealing it. */
  declare readonly credentialHash: pulumi.Output<string>;
  /** `active` or `inactive`, as last seen. */
  declare readonly status: pulumi.Output<string>;

  constructor(name: string, args: WarehouseArgs, opts?: pulumi.CustomResourceOptions) {
    const outputs = { credentialHash: undefined, status: undefined };
    super(
      implementation,
      name,
      {
        ...args,
        connection: pulumi.secret(args.connection),
        storageCredential: pulumi.secret(args.storageCredential),
        ...outputs,
      },
      pulumi.mergeOptions(opts, { additionalSecretOutputs: ["connection", "storageCredential"] }),
      "lakekeeper",
      "Warehouse",
    );
    this.location = pulumi.output(args.storageProfile).apply((profile) => locationOf(normalProfile(profile)));
  }

  /** Prefix of all paths of the Iceberg REST API. The id, so that it is known in the preview of an update too. */
  get warehouseId(): pulumi.Output<string> {
    return this.id;
  }
}
