import * as pulumi from "@pulumi/pulumi";
import type { Trust } from "./authentication.ts";
import type { LakekeeperPostgres } from "./postgres.ts";
import type { LakekeeperService } from "./service.ts";
import type { Platform } from "../platforms/platform.ts";
import { after } from "../providers/after.ts";
import { Readiness } from "../providers/readiness.ts";
import { Release } from "../providers/release.ts";

export interface LakekeeperLifecycleArgs {
  readonly platform: Platform;
  readonly postgres: LakekeeperPostgres;
  readonly service: LakekeeperService;
  readonly trust: Trust;
  /** The release to run, `0.13.3`. */
  readonly version: string;
  /** Name of the backup that the database was restored from, to allow an older version; empty otherwise. */
  readonly restoredBackup: string;
}

/**
 * F1, steps 3 and 4: migrate to the end, then serve, then wait until it answers. The order is kept here because `serve`
 * keeps none: it starts on a schema that is behind, and fails only when a query meets it.
 */
export class LakekeeperLifecycle extends pulumi.ComponentResource {
  /** Lakekeeper's address, known to answer. No path, no slash at the end. */
  readonly uri: pulumi.Output<string>;
  /** Names what serves there: another process or deployment is another text. */
  readonly instance: pulumi.Output<string>;

  constructor(name: string, args: LakekeeperLifecycleArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakekeeper:index:Lifecycle", name, {}, opts);
    const { platform, version } = args;
    const { environment } = args.service;

    const database = args.postgres.identity;
    const release = new Release(
      `${name}-release`,
      { version, database, restoredBackup: args.restoredBackup },
      { parent: this },
    );
    const migrate = platform.migrate(
      `${name}-migrate`,
      { environment, version, database },
      { parent: this, dependsOn: release },
    );
    const serve = platform.serve(
      `${name}-serve`,
      { environment, version },
      { parent: this, dependsOn: [migrate, ...args.trust.ready] },
    );
    const { uri, instance } = serve;
    const ready = new Readiness(`${name}-ready`, { uri, instance }, { parent: this });

    this.uri = after(ready, uri);
    this.instance = ready.instance;
    this.registerOutputs({ uri: this.uri });
  }
}
