import * as pulumi from "@pulumi/pulumi";
import { obtainToken, type ClientCredentials } from "../clients/openId.ts";
import { userOf, type Identity } from "../clients/token.ts";
import { required, type StackConfig } from "../config.ts";
import { OidcToken } from "../providers/oidcToken.ts";
import { OpenIdDiscovery } from "../providers/openIdDiscovery.ts";
import type { Authentication, SelfService, Subject, TrustedProvider } from "./authentication.ts";

export interface OpenIdClientsArgs {
  readonly auth: StackConfig["auth"];
  readonly clients: StackConfig["authClients"];
}

/** `auth.mode: oidc`. Somebody else's OpenID provider, at which each of the catalog's clients is registered. */
export class OpenIdClients extends pulumi.ComponentResource implements Authentication {
  readonly trusted: TrustedProvider;
  readonly handsOutTokens = false;
  readonly ready: pulumi.Resource[];
  readonly #auth: StackConfig["auth"];
  readonly #clients: NonNullable<StackConfig["authClients"]>;
  readonly #discovery: OpenIdDiscovery;

  constructor(name: string, args: OpenIdClientsArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakekeeper:index:OpenIdClients", name, {}, opts);
    this.#auth = args.auth;
    this.#clients = required(args.clients, "authClients");
    const { audience, scope, subjectClaims, tokenEndpoint } = args.auth;
    const issuerUrl = required(args.auth.issuerUrl, "auth.issuerUrl");
    this.#discovery = new OpenIdDiscovery(
      `${name}-discovery`,
      { issuerUrl, ...(tokenEndpoint !== undefined && { tokenEndpoint }) },
      { parent: this },
    );
    this.trusted = { uri: issuerUrl, audience, scope, subjectClaims };
    this.ready = [this.#discovery];
    this.registerOutputs({});
  }

  /** A provider gets itself a token whenever it has to. */
  identity(subject: Subject): pulumi.Output<Identity> {
    return pulumi.secret(pulumi.output({ kind: "client-credentials" as const, ...this.#client(subject) }));
  }

  /** Only a token tells; one is got at once, so that a preview knows it too. */
  user(subject: Subject): pulumi.Output<string> {
    const client = this.#client(subject);
    return pulumi.output(obtainToken(client).then(({ token }) => userOf(token, client.subjectClaims)));
  }

  token(name: string, subject: Subject, opts: pulumi.CustomResourceOptions): pulumi.Output<string> {
    const { renewBeforeSeconds } = this.#auth;
    return new OidcToken(name, { client: this.#client(subject), renewBeforeSeconds }, opts).token;
  }

  selfService(subject: Subject): SelfService {
    const { clientId, clientSecret, scope } = this.#client(subject);
    return {
      credential: pulumi.secret(`${clientId}:${clientSecret}`),
      oauth2ServerUri: this.#discovery.oauth2ServerUri,
      scope,
    };
  }

  #client(subject: Subject): ClientCredentials {
    const { issuerUrl, tokenEndpoint, audience, scope, subjectClaims } = this.#auth;
    return {
      issuerUrl: required(issuerUrl, "auth.issuerUrl"),
      ...(tokenEndpoint !== undefined && { tokenEndpoint }),
      ...this.#clients[subject],
      audience,
      ...(scope !== undefined && { scope }),
      subjectClaims,
      subject,
    };
  }
}
