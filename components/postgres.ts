import * as pulumi from "@pulumi/pulumi";
import type { Platform } from "../platforms/platform.ts";
import type { Protection } from "./protection.ts";

export interface LakekeeperPostgresArgs {
  readonly platform: Platform;
  readonly protection: Protection;
}

/** F1, step 1: a Postgres of Lakekeeper's own, which holds every pointer of the catalog. */
export class LakekeeperPostgres extends pulumi.ComponentResource {
  /** `postgresql://role:password@host:port/database`, secret. */
  readonly url: pulumi.Output<string>;
  /** Names its data: a database that was made anew is another text. */
  readonly identity: pulumi.Output<string>;

  constructor(name: string, args: LakekeeperPostgresArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakekeeper:index:Postgres", name, {}, opts);
    const database = args.platform.database(name, { parent: this, ...args.protection });
    this.url = pulumi.secret(database.url);
    this.identity = database.identity;
    this.registerOutputs({ url: this.url });
  }
}
