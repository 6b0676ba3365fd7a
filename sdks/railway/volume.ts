import * as pulumi from "@pulumi/pulumi";
import { provider } from "../../providers/dynamic.ts";

export type BackupKind = "DAILY" | "WEEKLY" | "MONTHLY";

export interface VolumeArgs {
  readonly projectId: pulumi.Input<string>;
  readonly environmentId: pulumi.Input<string>;
  /** A service has one volume at most; one that it has already is taken over. */
  readonly serviceId: pulumi.Input<string>;
  /** Absolute, `/var/lib/postgresql/data`. */
  readonly mountPath: pulumi.Input<string>;
  /** Railway makes names unique in a project; a taken one gets a number. @default the one that Railway makes up */
  readonly name?: pulumi.Input<string>;
  /** Cannot change. @default the service's */
  readonly region?: pulumi.Input<string>;
  /** It can only grow. @default that of the plan */
  readonly sizeMB?: pulumi.Input<number>;
  /** Backups that Railway makes: daily ones are kept 6 days, weekly ones a month, monthly ones three. @default none */
  readonly backupSchedule?: pulumi.Input<pulumi.Input<BackupKind>[]>;
}

const implementation = provider("sdks/railway/volume.provider.ts");

/** A disk of a service. It is never replaced: what would lose its data is refused. */
export class Volume extends pulumi.dynamic.Resource {
  /** Of the volume in its environment, which backups are made of. */
  declare readonly volumeInstanceId: pulumi.Output<string>;

  constructor(name: string, args: VolumeArgs, opts?: pulumi.CustomResourceOptions) {
    super(
      implementation,
      name,
      { ...args, volumeInstanceId: undefined, observedName: undefined },
      opts,
      "railway",
      "Volume",
    );
  }
}
