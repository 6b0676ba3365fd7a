/** Thrown for a setting the server cannot use; the real server panics (exit code 101) when it first reads its settings. */
export class SettingsError extends Error {}

export interface OpenIdSettings {
  /** Before the `~` of its users' ids. */
  readonly id: string;
  /** Whether the server must not start without it. */
  readonly required: boolean;
  readonly providerUri: string;
  /** Accepted `aud` values; empty when the audience is not checked. */
  readonly audience: readonly string[];
  readonly additionalIssuers: readonly string[];
  /** Claims that may hold the subject; the first one present is used. */
  readonly subjectClaims: readonly string[];
  readonly scope: string | undefined;
}

export interface DatabaseSettings {
  readonly readUrl: string;
  readonly writeUrl: string;
  readonly readConnections: number;
  readonly writeConnections: number;
  readonly acquireTimeoutSeconds: number;
}

/** Where permissions are kept and decided. */
export interface OpenFgaSettings {
  /** Of the HTTP API; the real server is given the address of the gRPC API. */
  readonly endpoint: string;
  readonly storeName: string;
  readonly apiKey: string | undefined;
}

export interface Settings {
  readonly database: DatabaseSettings;
  readonly encryptionKey: string;
  readonly listenPort: number;
  readonly bindIp: string;
  readonly baseUri: string | undefined;
  readonly useForwardedHeaders: boolean;
  readonly maxBodyBytes: number;
  /** In the order in which they are asked about a token; none when there is no authentication. */
  readonly openId: readonly OpenIdSettings[];
  /** Undefined with the authorizer that allows everything. */
  readonly openFga: OpenFgaSettings | undefined;
  readonly defaultProject: boolean;
  readonly reservedNamespaces: readonly string[];
  readonly pageSizeDefault: number;
  readonly pageSizeMax: number;
  readonly skipStorageValidation: boolean;
  readonly taskPollSeconds: number;
  readonly healthSeconds: number;
  readonly migrateBeforeServe: boolean;
  readonly autoServe: boolean;
  /** Settings of the stand-in only. */
  readonly standin: {
    /** Base URL used instead of https://api.cloudflare.com/client/v4. */
    readonly cloudflareApi: string;
    /** How long a warehouse's row may be served from memory, in seconds. */
    readonly stateCacheSeconds: number;
    /** How the server is to misbehave: rules of emulators/faultRule.ts, one on each line. */
    readonly faults: string;
    /** A file that gets one JSON line for each request. */
    readonly requestLog: string | undefined;
  };
}

export type Environment = Readonly<Record<string, string | undefined>>;

const unsafeKey = "<This is unsafe, please set a proper key>";
const prefixes = ["LAKEKEEPER__", "ICEBERG_REST__"];

/** Reads variables the way figment does: names in any case, values typed by how they look. */
class Reader {
  private readonly values = new Map<string, string>();

  constructor(environment: Environment) {
    for (const prefix of prefixes.toReversed())
      for (const [name, value] of Object.entries(environment))
        if (value !== undefined && name.toUpperCase().startsWith(prefix))
          this.values.set(name.toUpperCase().slice(prefix.length), value.trim());
  }

  text(name: string): string | undefined {
    const value = this.values.get(name);
    if (value === undefined) return undefined;
    const kind = /^[+-]?\d+$/.test(value)
      ? "integer"
      : /^[+-]?\d+\.\d+$/.test(value)
        ? "floating point"
        : value === "true" || value === "false"
          ? "boolean"
          : undefined;
    if (kind !== undefined)
      throw new SettingsError(`invalid type: found ${kind}, expected a string for key "${name.toLowerCase()}"`);
    return /^".*"$/s.test(value) ? value.slice(1, -1) : value;
  }

  integer(name: string, otherwise: number): number {
    const value = this.values.get(name);
    if (value === undefined) return otherwise;
    if (!/^\d+$/.test(value))
      throw new SettingsError(`invalid type: found string "${value}", expected u64 for key "${name.toLowerCase()}"`);
    return Number(value);
  }

  boolean(name: string, otherwise: boolean): boolean {
    const value = this.values.get(name);
    if (value === undefined) return otherwise;
    if (value !== "true" && value !== "false")
      throw new SettingsError(
        `invalid type: found string "${value}", expected a boolean for key "${name.toLowerCase()}"`,
      );
    return value === "true";
  }

  /** What the pattern captures of the names that it matches, in alphabetical order. */
  names(pattern: RegExp): string[] {
    return [...this.values.keys()].flatMap((name) => pattern.exec(name)?.[1] ?? []).sort();
  }

  csv(name: string): string[] {
    return (this.text(name) ?? "")
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part !== "");
  }
}

function databaseUrl(reader: Reader, side: "W" | "R"): string | undefined {
  const url = reader.text(side === "W" ? "PG_DATABASE_URL_WRITE" : "PG_DATABASE_URL_READ");
  if (url !== undefined) return url;
  const host = (side === "R" ? reader.text("PG_HOST_R") : undefined) ?? reader.text("PG_HOST_W");
  if (host === undefined) return undefined;
  const required = (name: string): string => {
    const value = name === "PG_PORT" ? String(reader.integer(name, 0) || "") : reader.text(name);
    if (value === undefined || value === "")
      throw new SettingsError(`${name} is required when a Postgres host is given.`);
    return encodeURIComponent(value);
  };
  const login = `${required("PG_USER")}:${required("PG_PASSWORD")}`;
  return `postgresql://${login}@${host}:${required("PG_PORT")}/${required("PG_DATABASE")}`;
}

function openId(reader: Reader): OpenIdSettings[] {
  const primary = openIdProvider(reader, "oidc", {
    uri: "OPENID_PROVIDER_URI",
    rest: "OPENID_",
    claims: "SUBJECT_CLAIM",
  });
  const others = reader.names(/^OPENID_PROVIDERS__([A-Z0-9-]+)__URI$/).map((name) => {
    const prefix = `OPENID_PROVIDERS__${name}__`;
    return openIdProvider(reader, name.toLowerCase(), { uri: `${prefix}URI`, rest: prefix, claims: "SUBJECT_CLAIMS" });
  });
  return [primary, ...others].filter((provider) => provider !== undefined);
}

function openIdProvider(
  reader: Reader,
  id: string,
  { uri, rest, claims }: { uri: string; rest: string; claims: string },
): OpenIdSettings | undefined {
  const providerUri = reader.text(uri);
  if (providerUri === undefined) return undefined;
  const subjectClaims = reader.csv(`${rest}${claims}`);
  return {
    id,
    required: reader.boolean(`${rest}REQUIRE_CONNECTED_ON_STARTUP`, true),
    providerUri,
    audience: reader.csv(`${rest}AUDIENCE`),
    additionalIssuers: reader.csv(`${rest}ADDITIONAL_ISSUERS`),
    subjectClaims: subjectClaims.length > 0 ? subjectClaims : ["oid", "sub"],
    scope: reader.text(`${rest}SCOPE`),
  };
}

/** As in the real server, whatever is not openfga allows everything. */
function openFga(reader: Reader): OpenFgaSettings | undefined {
  if (reader.text("AUTHZ_BACKEND")?.toLowerCase() !== "openfga") return undefined;
  const endpoint = reader.text("OPENFGA__ENDPOINT");
  if (endpoint === undefined || !URL.canParse(endpoint))
    throw new SettingsError('OPENFGA__ENDPOINT has to be a URL for the authorization backend "openfga".');
  const more = ["CLIENT_ID", "CLIENT_SECRET", "TOKEN_ENDPOINT", "SCOPE"];
  const foreign = [...more, "AUTHORIZATION_MODEL_PREFIX", "AUTHORIZATION_MODEL_VERSION"].find(
    (name) => reader.text(`OPENFGA__${name}`) !== undefined,
  );
  if (foreign !== undefined) throw new SettingsError(`The stand-in does not model OPENFGA__${foreign}.`);
  return {
    endpoint,
    storeName: reader.text("OPENFGA__STORE_NAME") ?? "lakekeeper",
    apiKey: reader.text("OPENFGA__API_KEY"),
  };
}

/**
 * Reads LAKEKEEPER__* by their real names; unknown ones are ignored, as the real server ignores them. A value of digits
 * only (or true/false) given to an option that is text is refused: seen with Lakekeeper 0.13.3.
 */
export function readSettings(environment: Environment): Settings {
  const reader = new Reader(environment);
  const writeUrl = databaseUrl(reader, "W");
  if (writeUrl === undefined) throw new SettingsError("A connection string or postgres host must be provided.");
  const reserved = reader.csv("RESERVED_NAMESPACES");
  return {
    database: {
      writeUrl,
      readUrl: databaseUrl(reader, "R") ?? writeUrl,
      readConnections: reader.integer("PG_READ_POOL_CONNECTIONS", 10),
      writeConnections: reader.integer("PG_WRITE_POOL_CONNECTIONS", 5),
      acquireTimeoutSeconds: reader.integer("PG_ACQUIRE_TIMEOUT", 5),
    },
    encryptionKey: reader.text("PG_ENCRYPTION_KEY") ?? unsafeKey,
    listenPort: reader.integer("LISTEN_PORT", 8181),
    bindIp: reader.text("BIND_IP") ?? "0.0.0.0",
    baseUri: reader.text("BASE_URI")?.replace(/\/+$/, ""),
    useForwardedHeaders: reader.boolean("USE_X_FORWARDED_HEADERS", true),
    maxBodyBytes: reader.integer("MAX_REQUEST_BODY_SIZE", 2 * 1024 * 1024),
    openId: openId(reader),
    openFga: openFga(reader),
    defaultProject: reader.boolean("ENABLE_DEFAULT_PROJECT", true),
    reservedNamespaces: reserved.length > 0 ? reserved : ["system", "examples", "information_schema"],
    pageSizeDefault: reader.integer("PAGINATION_SIZE_DEFAULT", 100),
    pageSizeMax: reader.integer("PAGINATION_SIZE_MAX", 1000),
    skipStorageValidation: reader.boolean("SKIP_STORAGE_VALIDATION", false),
    taskPollSeconds: reader.integer("TASK_POLL_INTERVAL", 10),
    healthSeconds: reader.integer("HEALTH_CHECK_FREQUENCY_SECONDS", 10),
    migrateBeforeServe: reader.boolean("DEBUG__MIGRATE_BEFORE_SERVE", false),
    autoServe: reader.boolean("DEBUG__AUTO_SERVE", false),
    standin: standin(environment),
  };
}

function standin(environment: Environment): Settings["standin"] {
  return {
    cloudflareApi: (
      environment["LAKEKEEPER_STANDIN__CLOUDFLARE_API"] ?? "https://api.cloudflare.com/client/v4"
    ).replace(/\/+$/, ""),
    stateCacheSeconds: Number(environment["LAKEKEEPER_STANDIN__STATE_CACHE_SECONDS"] ?? 60),
    faults: environment["LAKEKEEPER_STANDIN__FAULT"] ?? "",
    requestLog: environment["LAKEKEEPER_STANDIN__LOG"] || undefined,
  };
}

/** True when the key is the one everybody knows. */
export function isUnsafeKey(settings: Settings): boolean {
  return settings.encryptionKey === unsafeKey;
}
