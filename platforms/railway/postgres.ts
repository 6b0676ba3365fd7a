import type * as pulumi from "@pulumi/pulumi";
import { RandomSecret } from "../../providers/randomSecret.ts";
import type { Database } from "../platform.ts";
import { DeployedService, type Place } from "./deployedService.ts";

/** Its name on Railway; references to its variables begin with it. */
const POSTGRES = "Postgres";
/** The image refuses to start with its volume anywhere else. */
const MOUNT_PATH = "/var/lib/postgresql/data";
const USER = "lakekeeper";
const DATABASE = "lakekeeper";

export interface RailwayPostgresArgs {
  readonly place: Place;
  /** A tag of Railway's own Postgres image. */
  readonly image: string;
  readonly region: string | undefined;
  readonly backups: ("DAILY" | "WEEKLY" | "MONTHLY")[];
}

export interface RailwayDatabase extends Database {
  /** To back it up by. */
  readonly volumeInstanceId: pulumi.Output<string>;
}

/**
 * Railway's Postgres as its own tools set it up, but private: without a TCP proxy only services of the same project
 * reach it. Lakekeeper's variables refer to the password, so that it is written down in one service only.
 */
export function railwayPostgres(
  name: string,
  args: RailwayPostgresArgs,
  opts: pulumi.ResourceOptions,
): RailwayDatabase {
  const password = new RandomSecret(`${name}-password`, {}, opts).value;
  const postgres = new DeployedService(
    name,
    {
      place: args.place,
      serviceName: POSTGRES,
      settings: {
        sourceImage: args.image,
        restartPolicyType: "ALWAYS",
        numReplicas: 1,
        ...(args.region !== undefined && { region: args.region }),
      },
      volume: {
        mountPath: MOUNT_PATH,
        name: "postgres-data",
        backupSchedule: args.backups,
      },
      variables: () => ({
        PGDATA: `${MOUNT_PATH}/pgdata`,
        POSTGRES_DB: DATABASE,
        POSTGRES_USER: USER,
        POSTGRES_PASSWORD: password,
        PGHOST: "${{RAILWAY_PRIVATE_DOMAIN}}",
        PGPORT: "5432",
        PGUSER: "${{POSTGRES_USER}}",
        PGDATABASE: "${{POSTGRES_DB}}",
        PGPASSWORD: "${{POSTGRES_PASSWORD}}",
        DATABASE_URL:
          "postgresql://${{PGUSER}}:${{POSTGRES_PASSWORD}}@${{RAILWAY_PRIVATE_DOMAIN}}:5432/${{PGDATABASE}}",
        SSL_CERT_DAYS: "820",
        RAILWAY_DEPLOYMENT_DRAINING_SECONDS: "60",
      }),
      waitFor: "running",
    },
    opts,
  );
  const volume = postgres.volume!;
  return {
    url: postgres.once(`\${{${POSTGRES}.DATABASE_URL}}`),
    identity: postgres.once(volume.id),
    volumeInstanceId: volume.volumeInstanceId,
  };
}
