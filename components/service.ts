import * as pulumi from "@pulumi/pulumi";
import type { TokenIssuer } from "./issuer.ts";
import type { LakekeeperPostgres } from "./postgres.ts";
import type { Protection } from "./protection.ts";
import { RandomSecret } from "../providers/randomSecret.ts";

export interface LakekeeperServiceArgs {
  readonly postgres: LakekeeperPostgres;
  readonly issuer: TokenIssuer;
  /** Of the encryption key: without it Lakekeeper cannot read the storage credentials it keeps. */
  readonly protection: Protection;
}

/**
 * F1, step 2: what Lakekeeper is told, on every platform. The names are those of its documentation; an unknown one is
 * ignored without a word, so they are written once, here. The platform adds ports and addresses.
 */
export class LakekeeperService extends pulumi.ComponentResource {
  /** Environment variables by name. Secret. */
  readonly environment: pulumi.Output<Record<string, string>>;

  constructor(name: string, args: LakekeeperServiceArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakekeeper:index:Service", name, {}, opts);
    const { protection } = args;
    const encryptionKey = new RandomSecret(
      `${name}-encryption-key`,
      { length: 40 },
      { parent: this, ...protection, retainOnDelete: protection.protect === true },
    );
    this.environment = pulumi.secret(
      pulumi.all({
        LAKEKEEPER__PG_DATABASE_URL_READ: args.postgres.url,
        LAKEKEEPER__PG_DATABASE_URL_WRITE: args.postgres.url,
        LAKEKEEPER__PG_ENCRYPTION_KEY: encryptionKey.value,
        LAKEKEEPER__OPENID_PROVIDER_URI: args.issuer.providerUri,
        LAKEKEEPER__OPENID_AUDIENCE: args.issuer.audience,
        LAKEKEEPER__OPENID_SUBJECT_CLAIM: "sub",
      }),
    );
    this.registerOutputs({});
  }
}
