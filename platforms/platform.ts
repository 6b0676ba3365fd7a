import type * as pulumi from "@pulumi/pulumi";
import type { JWK } from "jose";
import type { StorageCredential, StorageProfile } from "../providers/warehouse.ts";

/** A Postgres database that is Lakekeeper's alone. */
export interface Database {
  /** `postgresql://role:password@host:port/database`, secret, as Lakekeeper reaches it. */
  readonly url: pulumi.Output<string>;
  /** Names the data: a database that was made anew is another text. */
  readonly identity: pulumi.Output<string>;
}

/** Public keys to publish. */
export interface Jwks {
  keys: JWK[];
}

/** Where the issuer's two documents can be read. */
export interface Issuer {
  /** The `iss` of every token. */
  readonly url: pulumi.Output<string>;
  /** Where Lakekeeper finds the discovery document, which may be an address that only it can reach. */
  readonly providerUri: pulumi.Output<string>;
  /** What must exist before Lakekeeper starts, since it reads the discovery document then and exits without it. */
  readonly published: pulumi.Resource;
}

export interface ServiceArgs {
  /** Lakekeeper's environment by its real names. Secret. */
  readonly environment: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** The release to run, `0.13.3`. */
  readonly version: string;
}

export interface MigrateArgs extends ServiceArgs {
  /** `Database.identity`. */
  readonly database: pulumi.Input<string>;
}

/** A running Lakekeeper. */
export interface Served {
  /** Its address as clients and the deployer reach it, without a path and without a slash at the end. */
  readonly uri: pulumi.Output<string>;
  /** Names the process or the deployment that serves: another one is another text. */
  readonly instance: pulumi.Output<string>;
}

/** The bucket and the keys to it. */
export interface Storage {
  readonly profile: pulumi.Input<StorageProfile>;
  /** What Lakekeeper is given to reach the bucket and to mint vended credentials from. Secret. */
  readonly credential: pulumi.Input<StorageCredential>;
  /** Another credential means the end of the one before it, at the end of the same run. */
  readonly isRotated?: boolean;
  /** What must exist before a warehouse is made on it. */
  readonly ready: pulumi.Resource[];
}

/**
 * Where a stack runs. Everything above a platform - components, providers, outputs - is the same on every one.
 *
 * Each method is called once and declares resources, under `opts.parent` or, without one, under the platform itself.
 */
export interface Platform {
  /** What runs as Lakekeeper, for the output `lakekeeperRuntime`: `binary 0.13.3`, `stand-in 0.13.3`, an image. */
  readonly runtime: pulumi.Output<string>;
  /** SQLAlchemy URI of a SqlCatalog to use when the stack names none. */
  sampleCatalog?(): Promise<string>;
  database(name: string, opts: pulumi.ResourceOptions): Database;
  issuer(name: string, jwks: pulumi.Input<Jwks>, opts: pulumi.ResourceOptions): Issuer;
  /** Runs `lakekeeper migrate` to its end, for each release on each database once. */
  migrate(name: string, args: MigrateArgs, opts: pulumi.ResourceOptions): pulumi.Resource;
  /** Runs `lakekeeper serve` and goes on once it answers. */
  serve(name: string, args: ServiceArgs, opts: pulumi.ResourceOptions): Served;
  storage(name: string): Storage;
}
