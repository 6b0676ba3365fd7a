import * as pulumi from "@pulumi/pulumi";
import type { StackConfig } from "../config.ts";
import type { LakekeeperLifecycle } from "./lifecycle.ts";
import type { TokenIssuer } from "./issuer.ts";
import { after } from "../providers/after.ts";
import { Bootstrap } from "../providers/bootstrap.ts";
import { Token } from "../providers/token.ts";
import type { Connection } from "../clients/token.ts";

/** Who gets a token. Without an authorization backend every valid token is an administrator's. */
export type Subject = "deployer" | "ml-runner" | "karma";

export interface CatalogAccessArgs {
  readonly issuer: TokenIssuer;
  readonly lifecycle: LakekeeperLifecycle;
  readonly auth: StackConfig["auth"];
}

/** F3: bootstrap the server before anyone else can, and issue the tokens that clients carry. */
export class CatalogAccess extends pulumi.ComponentResource {
  /** How the stack itself speaks to the bootstrapped server. Secret. */
  readonly connection: pulumi.Output<Connection>;
  readonly tokens: Readonly<Record<Subject, Token>>;

  constructor(name: string, args: CatalogAccessArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakekeeper:index:CatalogAccess", name, {}, opts);
    const { issuer, lifecycle, auth } = args;
    const connection = pulumi.secret(pulumi.output({ uri: lifecycle.uri, identity: issuer.identity("deployer") }));
    const bootstrap = new Bootstrap(`${name}-bootstrap`, { connection }, { parent: this });

    const token = (subject: Subject) =>
      new Token(
        `${name}-${subject}`,
        {
          subject,
          signingKey: issuer.key.privateKey,
          kid: issuer.key.kid,
          algorithm: issuer.key.algorithm,
          issuer: issuer.url,
          audience: issuer.audience,
          lifetimeSeconds: auth.tokenLifetimeSeconds,
          renewBeforeSeconds: auth.renewBeforeSeconds,
        },
        // A token signed by a key that is not published yet would be refused.
        { parent: this, dependsOn: issuer.published },
      );
    this.tokens = { deployer: token("deployer"), "ml-runner": token("ml-runner"), karma: token("karma") };
    // Whoever uses the connection comes after the bootstrap.
    this.connection = pulumi.secret(after(bootstrap, connection));
    this.registerOutputs({});
  }
}
