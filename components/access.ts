import * as pulumi from "@pulumi/pulumi";
import type { Connection } from "../clients/token.ts";
import type { StackConfig } from "../config.ts";
import { issuersOf, type Authentication, type Subject } from "./authentication.ts";
import type { LakekeeperLifecycle } from "./lifecycle.ts";
import type { OpenFga } from "./service.ts";
import { after } from "../providers/after.ts";
import { Bootstrap } from "../providers/bootstrap.ts";

export interface CatalogAccessArgs {
  readonly authentication: Authentication;
  readonly auth: StackConfig["auth"];
  readonly lifecycle: LakekeeperLifecycle;
  readonly openFga: OpenFga | undefined;
}

/** F3: bootstrap the server before anyone else can, and issue the tokens that clients carry. */
export class CatalogAccess extends pulumi.ComponentResource {
  /** How the stack itself speaks to the bootstrapped server. Secret. */
  readonly connection: pulumi.Output<Connection>;
  /** Empty where none is asked for. Secret. */
  readonly tokens: Readonly<Record<Subject, pulumi.Output<string>>>;

  constructor(name: string, args: CatalogAccessArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakekeeper:index:CatalogAccess", name, {}, opts);
    const { authentication, auth, lifecycle, openFga } = args;
    const identity = authentication.identity("deployer");
    const connection = pulumi.secret(pulumi.output({ uri: lifecycle.uri, identity }));
    const authorization = openFga && { operator: authentication.user("deployer"), ...openFga };
    const bootstrap = new Bootstrap(
      `${name}-bootstrap`,
      { connection, authorization, issuers: issuersOf(auth) },
      { parent: this },
    );

    const token = (subject: Subject) => authentication.token(`${name}-${subject}`, subject, { parent: this });
    this.tokens = { deployer: token("deployer"), "ml-runner": token("ml-runner"), karma: token("karma") };
    // Whoever uses the connection comes after the bootstrap.
    this.connection = pulumi.secret(after(bootstrap, connection));
    this.registerOutputs({});
  }
}
