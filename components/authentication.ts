import * as pulumi from "@pulumi/pulumi";
import type { Identity } from "../clients/token.ts";
import type { StackConfig } from "../config.ts";
import type { Platform } from "../platforms/platform.ts";
import { TokenIssuer } from "./issuer.ts";
import { OpenIdClients } from "./openIdClients.ts";
import type { Protection } from "./protection.ts";

/** Who calls the catalog. Without OpenFGA every valid token is an administrator's. */
export type Subject = "deployer" | "ml-runner" | "karma";

/** An OpenID provider as Lakekeeper is told of it. */
export interface TrustedProvider {
  /** Where it finds the discovery document. */
  readonly uri: pulumi.Input<string>;
  /** What tokens have to be for. */
  readonly audience: string;
  /** What tokens have to be granted, when anything. */
  readonly scope?: string | undefined;
  /** Claims of which the first one present names the user. */
  readonly subjectClaims: readonly string[];
}

/** What clients need to get tokens themselves, as PyIceberg's properties call it. */
export interface SelfService {
  /** `credential`: `id:secret`. Secret. */
  readonly credential: pulumi.Output<string>;
  /** `oauth2-server-uri`. */
  readonly oauth2ServerUri: pulumi.Output<string>;
  /** `scope`; undefined when none is to be asked for. */
  readonly scope: string | undefined;
}

/** Everybody whom Lakekeeper believes. */
export interface Trust {
  /** Undefined where it asks nobody for a token. */
  readonly current: TrustedProvider | undefined;
  /** Whose tokens are still taken for a while. */
  readonly previous?: TrustedProvider | undefined;
  /** What must exist before Lakekeeper starts, since it reads discovery documents then and exits without. */
  readonly ready: pulumi.Resource[];
}

/** Who Lakekeeper believes, and how its clients come to tokens. */
export interface Authentication {
  /** Undefined where it asks nobody for a token. */
  readonly trusted: TrustedProvider | undefined;
  /** Its clients use the tokens that are declared here, and get none themselves. */
  readonly handsOutTokens: boolean;
  /** What must exist before Lakekeeper starts, since it reads discovery documents then and exits without. */
  readonly ready: pulumi.Resource[];
  /** What lets a provider speak to Lakekeeper as `subject`. Secret. */
  identity(subject: Subject): pulumi.Output<Identity>;
  /** What Lakekeeper calls the user `subject`: `oidc~ml-runner`. Known in a preview; empty where nobody has a name. */
  user(subject: Subject): pulumi.Output<string>;
  /** Declares the token that a client carries; empty where none is asked for. Secret. */
  token(name: string, subject: Subject, opts: pulumi.CustomResourceOptions): pulumi.Output<string>;
  /** How `subject` gets tokens itself, where there is somebody to ask. */
  selfService?(subject: Subject): SelfService;
}

export interface AuthenticationArgs {
  readonly platform: Platform;
  readonly auth: StackConfig["auth"];
  readonly clients: StackConfig["authClients"];
  readonly protection: Protection;
}

/** `auth.mode: none`, on a machine that nobody else reaches. */
const ANONYMOUS: Authentication = {
  trusted: undefined,
  handsOutTokens: false,
  ready: [],
  identity: () => pulumi.output({ kind: "none" }),
  user: () => pulumi.output(""),
  token: () => pulumi.secret(""),
};

export function authentication(args: AuthenticationArgs): Authentication {
  switch (args.auth.mode) {
    case "bootstrap-token":
      return new TokenIssuer("issuer", args);
    case "oidc":
      return new OpenIdClients("oidc", args);
    case "none":
      return ANONYMOUS;
  }
}

/**
 * The provider in use, and until `auth.previous.until` the one before it, so that the tokens that clients have go on
 * being taken. The first run after that date drops it.
 */
export function trust(authentication: Authentication, args: AuthenticationArgs): Trust {
  const { trusted: current, ready } = authentication;
  const previous = previousOf(args.auth);
  if (previous === undefined) return { current, ready };
  if (previous.mode === "oidc") {
    const { issuerUrl: uri = "", audience, scope, subjectClaims } = previous;
    return { current, previous: { uri, audience, scope, subjectClaims }, ready };
  }
  const issuer = new TokenIssuer("issuer", {
    ...args,
    auth: { ...args.auth, audience: previous.audience },
    // It is to go when its time is over.
    protection: { ...args.protection, protect: false },
  });
  return { current, previous: issuer.trusted, ready: [...ready, ...issuer.ready] };
}

/** Undefined once its time is over. */
function previousOf({ previous }: StackConfig["auth"]): StackConfig["auth"]["previous"] {
  return previous !== undefined && Date.parse(previous.until) > Date.now() ? previous : undefined;
}

/** Whose tokens are taken, the provider in use first: its issuer, or the mode without one. Empty where none is asked for. */
export function issuersOf(auth: StackConfig["auth"]): string[] {
  const previous = previousOf(auth);
  const all = [auth, ...(previous ? [previous] : [])].filter(({ mode }) => mode !== "none");
  return all.map(({ mode, issuerUrl = "" }) => (mode === "oidc" ? issuerUrl : mode));
}
