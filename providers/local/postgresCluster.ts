import * as pulumi from "@pulumi/pulumi";
import { provider } from "../dynamic.ts";

export interface PostgresClusterArgs {
  /** The stack's folder for state, relative to the checkout: the data is in `postgres/`, the log in `logs/`. */
  readonly state: string;
  /** The loopback port that it listens on. */
  readonly port: pulumi.Input<number>;
  /** Of the role `postgres`. Secret. */
  readonly superuserPassword: pulumi.Input<string>;
  /** Owns the database, and is no superuser. */
  readonly role: string;
  /** Secret. */
  readonly rolePassword: pulumi.Input<string>;
  readonly database: string;
  /** How the operator chooses another port, for the message when it is taken: "set lakekeeper:ports". */
  readonly portRemedy?: string;
}

const implementation = provider("providers/local/postgresCluster.provider.ts");

/**
 * A Postgres that outlives the engine, with one database and its owner. The next `up` finds it again and starts it when it
 * is gone. Deleting it removes its data.
 */
export class PostgresCluster extends pulumi.dynamic.Resource {
  /** `postgresql://role:password@127.0.0.1:port/database`; secret. */
  declare readonly url: pulumi.Output<string>;
  /** Identity of the data: changes when it had to be made anew. */
  declare readonly systemIdentifier: pulumi.Output<string>;
  declare readonly pid: pulumi.Output<number>;
  /** False when a refresh found it stopped. */
  declare readonly running: pulumi.Output<boolean>;

  constructor(name: string, args: PostgresClusterArgs, opts?: pulumi.CustomResourceOptions) {
    super(
      implementation,
      name,
      {
        ...args,
        superuserPassword: pulumi.secret(args.superuserPassword),
        rolePassword: pulumi.secret(args.rolePassword),
        url: undefined,
        systemIdentifier: undefined,
        pid: undefined,
        running: undefined,
      },
      pulumi.mergeOptions(opts, { additionalSecretOutputs: ["superuserPassword", "rolePassword", "url"] }),
      "local",
      "PostgresCluster",
    );
  }
}
