import { isPrivate } from "./config.private.ts";

/** A setting that a stack cannot do without. */
export interface Requirement {
  /** Its key, with the path inside an object: `lakekeeper:r2.accountId`. */
  readonly setting: string;
  readonly isSet: boolean;
  readonly what: string;
  /** Where a person finds it. */
  readonly where: string;
  /** What sets it. A secret is asked for, so that it is not left in the shell's history. */
  readonly command: string;
  /** True when a preview does without it. */
  readonly onlyForUp?: boolean;
}

type Raw = Readonly<Record<string, string>>;

const R2_TOKEN =
  "Cloudflare dashboard, R2, Manage API tokens: an account token with Admin Read & Write. It shows all three once";

/**
 * What the stack's platform needs beyond the defaults.
 *
 * @param raw every setting as the engine hands it over; JSON for objects
 * @param command what sets a setting, such as `pulumi config set --stack dev`
 * @param environment of the process, where Railway's tokens may be
 */
export function requirements(raw: Raw, command: string, environment: NodeJS.ProcessEnv = process.env): Requirement[] {
  const needed: Requirement[] = [];
  const need = (setting: string, what: string, where: string, { secret = false, onlyForUp = false } = {}) => {
    const flags = [...(secret ? ["--secret"] : []), ...(setting.includes(".") ? ["--path"] : [])];
    needed.push({
      ...{ setting, what, where, onlyForUp },
      isSet: valueAt(raw, setting) !== undefined,
      command: [command, ...flags, setting].join(" "),
    });
  };

  if (raw["lakekeeper:postgres"] === "external") {
    need("lakekeeper:postgresUrl", "the external Postgres", "whoever runs it", { secret: true });
  }
  if (valueAt(raw, "lakekeeper:auth.mode") === "oidc") {
    need("lakekeeper:auth.issuerUrl", "the OpenID provider", "issuer in its discovery document");
    for (const subject of ["deployer", "ml-runner", "karma"]) {
      const of = `lakekeeper:authClients.${subject}`;
      const where = "the OpenID provider, a client with the client-credentials grant";
      need(`${of}.clientId`, `the client of ${subject}`, where);
      need(`${of}.clientSecret`, "its secret", where, { secret: true });
    }
  }
  if (valueAt(raw, "lakekeeper:authz.mode") === "openfga") {
    const where = "whoever runs OpenFGA";
    const endpoint = valueAt(raw, "lakekeeper:authz.endpoint");
    need(
      "lakekeeper:authz.endpoint",
      "the address of OpenFGA's gRPC API, such as https://openfga.example.com:8081",
      where,
    );
    const credentials = ["authz.tokenEndpoint", "authzCredentials.clientId", "authzCredentials.clientSecret"];
    if (credentials.some((field) => valueAt(raw, `lakekeeper:${field}`) !== undefined)) {
      need("lakekeeper:authz.tokenEndpoint", "where Lakekeeper gets tokens for OpenFGA", where);
      need("lakekeeper:authzCredentials.clientId", "Lakekeeper's client there", where);
      need("lakekeeper:authzCredentials.clientSecret", "its secret", where, { secret: true });
    } else if (typeof endpoint !== "string" || !URL.canParse(endpoint) || !isPrivate(endpoint)) {
      // Only where nobody else gets to may it be without a key: who writes to it grants himself everything.
      need("lakekeeper:authzCredentials.apiKey", "OpenFGA's preshared key", where, { secret: true });
    }
  }
  if (raw["lakekeeper:platform"] !== "railway") return needed;

  if (!environment["RAILWAY_API_TOKEN"] && !environment["RAILWAY_TOKEN"]) {
    const where = "Railway dashboard, Account or Workspace Settings, Tokens; or RAILWAY_API_TOKEN in the environment";
    need("railway:token", "a token of the account or workspace", where, { secret: true, onlyForUp: true });
  }
  need("lakekeeper:r2.accountId", "Cloudflare's account id", "Cloudflare dashboard, R2, Account details");
  if (valueAt(raw, "lakekeeper:r2.credentials") !== "provided") {
    if (!environment["CLOUDFLARE_API_TOKEN"]) {
      const where =
        "Cloudflare dashboard, Manage Account, Account API Tokens; or CLOUDFLARE_API_TOKEN in the environment";
      need("cloudflare:apiToken", "a token that may make account tokens, R2 buckets and Workers", where, {
        secret: true,
      });
    }
  } else {
    need("lakekeeper:r2Credentials.accessKeyId", "id of the R2 API token", R2_TOKEN, { secret: true });
    need("lakekeeper:r2Credentials.secretAccessKey", "its S3 secret access key", R2_TOKEN, { secret: true });
    need("lakekeeper:r2Credentials.token", "its value", R2_TOKEN, { secret: true });
  }
  const elsewhere = ["workersUrl", "workersDomain"].some(
    (name) => valueAt(raw, `lakekeeper:auth.${name}`) !== undefined,
  );
  if (publishes(raw) === "worker" && !elsewhere) {
    const where =
      "Cloudflare dashboard, Workers & Pages, Account details: Subdomain; or set lakekeeper:auth.workersDomain (hostname, " +
      "zoneId), or lakekeeper:auth.publish to service";
    need("lakekeeper:auth.workersSubdomain", "the account's name before .workers.dev", where);
  }
  if (raw["lakekeeper:cutover"] !== "retired") {
    const where = "the writer's catalog settings: postgresql://user:password@host/database";
    need("lakekeeper:sqlCatalog", "the SqlCatalog that holds the pointers today", where, { secret: true });
  }
  return needed;
}

/** Where the documents of the stack's own issuer are published on Railway; undefined when it has none. */
function publishes(raw: Raw): unknown {
  const modes = [
    valueAt(raw, "lakekeeper:auth.mode") ?? "bootstrap-token",
    valueAt(raw, "lakekeeper:auth.previous.mode"),
  ];
  if (!modes.includes("bootstrap-token")) return undefined;
  const isManaged = valueAt(raw, "lakekeeper:r2.credentials") !== "provided";
  return valueAt(raw, "lakekeeper:auth.publish") ?? (isManaged ? "worker" : "service");
}

/** The text of a setting, or of a field of an object; undefined when it is not there or empty. */
function valueAt(raw: Raw, setting: string): unknown {
  const [key = "", ...path] = setting.split(".");
  const text = raw[key];
  if (text === undefined || text === "") return undefined;
  if (path.length === 0) return text;
  try {
    return path.reduce<unknown>((object, name) => (object as Record<string, unknown>)[name], JSON.parse(text));
  } catch {
    return undefined;
  }
}
