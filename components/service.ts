import * as pulumi from "@pulumi/pulumi";
import { required, type StackConfig } from "../config.ts";
import type { Trust, TrustedProvider } from "./authentication.ts";
import type { LakekeeperPostgres } from "./postgres.ts";
import type { Protection } from "./protection.ts";
import { digest } from "../providers/digest.ts";
import { RandomSecret } from "../providers/randomSecret.ts";

/** An OpenFGA, and the store in it that is this catalog's. */
export interface OpenFga {
  /** Of its gRPC API. */
  readonly endpoint: string;
  readonly storeName: pulumi.Input<string>;
}

export interface LakekeeperServiceArgs {
  readonly postgres: LakekeeperPostgres;
  readonly trust: Trust;
  readonly authz: StackConfig["authz"];
  /** Secret. */
  readonly authzCredentials: StackConfig["authzCredentials"];
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
  /** Who decides what somebody may do; undefined where everybody may do everything. */
  readonly openFga: OpenFga | undefined;

  constructor(name: string, args: LakekeeperServiceArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakekeeper:index:Service", name, {}, opts);
    const { protection } = args;
    const encryptionKey = new RandomSecret(
      `${name}-encryption-key`,
      { length: 40 },
      { parent: this, ...protection, retainOnDelete: protection.protect === true },
    );
    this.openFga = openFgaOf(args);
    this.environment = pulumi.secret(
      pulumi.all({
        LAKEKEEPER__PG_DATABASE_URL_READ: args.postgres.url,
        LAKEKEEPER__PG_DATABASE_URL_WRITE: args.postgres.url,
        LAKEKEEPER__PG_ENCRYPTION_KEY: encryptionKey.value,
        ...openId(args.trust),
        ...(this.openFga && openFga(this.openFga, args)),
      }),
    );
    this.registerOutputs({});
  }
}

/** Who is believed. Told of nobody, Lakekeeper serves everybody. */
function openId({ current, previous }: Trust): Record<string, pulumi.Input<string>> {
  return {
    ...(current && provider(current, "LAKEKEEPER__OPENID_", { uri: "PROVIDER_URI", claims: "SUBJECT_CLAIM" })),
    ...(previous && {
      ...provider(previous, "LAKEKEEPER__OPENID_PROVIDERS__PREVIOUS__", { uri: "URI", claims: "SUBJECT_CLAIMS" }),
      // When it is gone before its time, that is no reason not to start.
      LAKEKEEPER__OPENID_PROVIDERS__PREVIOUS__REQUIRE_CONNECTED_ON_STARTUP: "false",
    }),
  };
}

function provider(
  { uri, audience, scope, subjectClaims }: TrustedProvider,
  prefix: string,
  names: { uri: string; claims: string },
): Record<string, pulumi.Input<string>> {
  return {
    [`${prefix}${names.uri}`]: uri,
    [`${prefix}AUDIENCE`]: audience,
    [`${prefix}${names.claims}`]: subjectClaims.join(","),
    ...(scope !== undefined && { [`${prefix}SCOPE`]: scope }),
  };
}

/** A catalog needs a store that was never another one's, so a new database gets a new one. */
function openFgaOf({ authz, postgres }: LakekeeperServiceArgs): OpenFga | undefined {
  if (authz.mode === "allow-all") return undefined;
  return {
    endpoint: required(authz.endpoint, "authz.endpoint"),
    storeName: authz.storeName ?? postgres.identity.apply((identity) => `lakekeeper-${digest(identity)}`),
  };
}

function openFga(
  { endpoint, storeName }: OpenFga,
  { authz, authzCredentials }: LakekeeperServiceArgs,
): Record<string, pulumi.Input<string>> {
  const { apiKey, clientId, clientSecret } = authzCredentials;
  const told = {
    ENDPOINT: endpoint,
    STORE_NAME: storeName,
    API_KEY: apiKey,
    CLIENT_ID: clientId,
    CLIENT_SECRET: clientSecret,
    TOKEN_ENDPOINT: authz.tokenEndpoint,
    SCOPE: authz.scope,
  };
  const named = Object.entries(told).flatMap(([name, value]) =>
    value === undefined ? [] : [[`LAKEKEEPER__OPENFGA__${name}`, value] as const],
  );
  return { LAKEKEEPER__AUTHZ_BACKEND: "openfga", ...Object.fromEntries(named) };
}
