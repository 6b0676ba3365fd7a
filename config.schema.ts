import { z } from "zod";
import { isPrivate } from "./config.private.ts";

/** Of tokens, unless it is set otherwise. */
const AUDIENCE = "lakekeeper";
const SECONDS_PER_DAY = 86_400;

const flag = z.enum(["true", "false"], { error: "must be true or false" }).transform((value) => value === "true");

const integer = (minimum: number, maximum: number) =>
  z
    .string()
    .regex(/^-?\d+$/, `must be a whole number from ${minimum} to ${maximum}`)
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, `must be a whole number from ${minimum} to ${maximum}`);

/** Settings that are lists or objects reach the program as JSON text. */
function json<Schema extends z.ZodType>(schema: Schema, shape: string) {
  return z
    .string()
    .transform((text, context): unknown => {
      try {
        return JSON.parse(text);
      } catch {
        context.addIssue({ code: "custom", message: `must be ${shape}` });
        return z.NEVER;
      }
    })
    .pipe(schema);
}

/** For an object that as a whole may be left out; the engine hands over its default, an empty one. */
function unlessEmpty<Schema extends z.ZodType>(schema: Schema) {
  const isEmpty = (value: unknown) => typeof value === "object" && value !== null && Object.keys(value).length === 0;
  return z.transform((value: unknown) => (isEmpty(value) ? undefined : value)).pipe(schema.optional());
}

const oneOf = <const Values extends readonly [string, ...string[]]>(...values: Values) =>
  z.enum(values, { error: `must be one of ${values.join(", ")}` });

const text = z.string("must be a text").min(1, "must not be empty");

const httpUrl = z.url({ protocol: /^https?$/, error: "must be an http or https URL" });

const port = z.int("must be a port, 1024 to 65535").min(1024).max(65_535);

const ports = z.strictObject({
  postgres: port.optional(),
  r2: port.optional(),
  issuer: port.optional(),
  lakekeeper: port.optional(),
});

const namespace = z
  .string()
  .regex(/^[^.+/]+(\.[^.+/]+){0,4}$/, "must be one to five levels joined by dots, without + or / (main.default)");

/** Lakekeeper keeps a bucket's name and a key prefix as S3 knows them: see "Exact create body" in its storage documentation. */
const bucket = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/,
    "must be an R2 bucket name: 3 to 63 of a-z, 0-9 and -, no - at either end",
  );

const keyPrefix = z
  .string()
  .max(895, "must be shorter than 896 characters")
  .regex(/^([^/\s]+(\/[^/\s]+)*)?$/, "must be a folder path without a slash at either end (warehouse/main)");

const domain = text.regex(/^([a-z0-9-]+\.)+[a-z]{2,}$/, "must be a domain without a scheme (catalog.example.com)");

const lifetimes = z.object({
  tokenLifetimeDays: z.int().min(1, "must be 1 to 365").max(365, "must be 1 to 365").default(90),
  renewBeforeDays: z.int().min(0, "must be 0 or more").default(30),
});

const claims = text.default("sub").transform((value) => value.split(",").map((claim) => claim.trim()));

const previousFields = z.strictObject({
  mode: oneOf("bootstrap-token", "oidc"),
  until: z.union(
    [z.iso.date(), z.iso.datetime()],
    "must be a day such as 2027-01-31, or a time such as 2027-01-31T12:00:00Z",
  ),
  issuerUrl: httpUrl.optional(),
  audience: text.default(AUDIENCE),
  scope: text.optional(),
  subjectClaim: claims,
});

const authFields = z.strictObject({
  ...lifetimes.shape,
  mode: oneOf("bootstrap-token", "oidc", "none").default("bootstrap-token"),
  algorithm: oneOf("RS256", "ES256").default("RS256"),
  audience: text.default(AUDIENCE),
  keyGeneration: z.int().min(1, "must be 1 or more").default(1),
  publish: oneOf("worker", "service").optional(),
  workersSubdomain: z
    .string()
    .regex(/^[a-z0-9-]{1,63}$/, "must be the account's name before .workers.dev alone")
    .optional(),
  workersDomain: z.strictObject({ hostname: domain, zoneId: text }).optional(),
  workersUrl: httpUrl.optional(),
  issuerUrl: httpUrl.optional(),
  tokenEndpoint: httpUrl.optional(),
  scope: text.optional(),
  subjectClaim: claims,
  previous: previousFields.optional(),
});

const auth = authFields
  .refine((value) => value.renewBeforeDays < value.tokenLifetimeDays, {
    path: ["renewBeforeDays"],
    // Also when another field is wrong, so that every problem is told at once.
    when: ({ value }) => lifetimes.safeParse(value).success,
    error: ({ input }) =>
      `must be less than auth.tokenLifetimeDays (${(input as { tokenLifetimeDays: number }).tokenLifetimeDays}), or every up renews every token`,
  })
  .transform(({ tokenLifetimeDays, renewBeforeDays, subjectClaim, previous, ...rest }) => ({
    ...rest,
    subjectClaims: subjectClaim,
    previous: previous && { ...previous, subjectClaims: previous.subjectClaim },
    tokenLifetimeSeconds: tokenLifetimeDays * SECONDS_PER_DAY,
    renewBeforeSeconds: renewBeforeDays * SECONDS_PER_DAY,
  }));

const client = z.strictObject({ clientId: text, clientSecret: text });

const authClients = z.strictObject({ deployer: client, "ml-runner": client, karma: client });

/** Permissions and tokens pass there, in the clear unless it is https. */
const protectedUrl = httpUrl.refine(
  (url) => !url.startsWith("http:") || !URL.canParse(url) || isPrivate(url),
  "must be https, or an http address of this machine or a private network",
);

/** Lakekeeper 0.13.3 does not start when a text of its settings looks like a number or a truth value. */
const LOOKS_TYPED = /^([+-]?\d+(\.\d+)?|true|false)$/;
const untyped = text.refine(
  (value) => !LOOKS_TYPED.test(value),
  "must not be a number, true or false: Lakekeeper refuses to read it as a text",
);

const authz = z.strictObject({
  mode: oneOf("allow-all", "openfga").default("allow-all"),
  endpoint: protectedUrl.optional(),
  storeName: untyped
    .regex(/^[a-zA-Z0-9\s.\-/^_&@]{3,64}$/, "must be 3 to 64 letters, digits, blanks and . - / ^ _ & @")
    .optional(),
  tokenEndpoint: protectedUrl.optional(),
  scope: untyped.optional(),
});

const authzCredentials = z.strictObject({
  apiKey: untyped.optional(),
  clientId: untyped.optional(),
  clientSecret: untyped.optional(),
});

const verification = z.strictObject({
  smokeTable: z
    .string()
    .regex(/^[^.]+(\.[^.]+)+$/, "must be a namespace and a table joined by dots (main.default.orders)")
    .optional(),
  writeProbe: z.boolean().default(false),
});

const railway = z.strictObject({
  workspaceId: text.optional(),
  projectId: text.optional(),
  region: text.optional(),
  replicas: z.int("must be 1 to 50").min(1, "must be 1 to 50").max(50, "must be 1 to 50").default(1),
  postgresImage: text.default("ghcr.io/railwayapp-templates/postgres-ssl:18"),
  issuerImage: text.default("docker.io/library/node:24.9.0-alpine"),
  customDomain: z
    .strictObject({
      domain,
      zoneId: text,
    })
    .optional(),
  backups: z
    .array(z.enum(["DAILY", "WEEKLY", "MONTHLY"], "must be DAILY, WEEKLY or MONTHLY"))
    .default(["DAILY", "WEEKLY"]),
  deployTimeoutSeconds: z
    .int("must be 60 to 7200")
    .min(60, "must be 60 to 7200")
    .max(7200, "must be 60 to 7200")
    .default(1200),
});

const days = (most: number) => {
  const wanted = `must be 1 to ${most}`;
  return z.int(wanted).min(1, wanted).max(most, wanted);
};

/** Cloudflare's own form of it; with another one, R2's endpoint would be a host that nobody has. */
const accountId = z
  .string()
  .regex(/^[0-9a-f]{32}$/, "must be Cloudflare's account id, 32 hexadecimal digits (in its dashboard's address)");

const s3Endpoint = z
  .url({ protocol: /^https?$/, error: "must be the http(s) URL of the S3 API" })
  .refine((url) => new URL(url).pathname === "/", {
    error: "must be the URL of the S3 API alone, without bucket or path",
    when: ({ value }) => typeof value === "string" && URL.canParse(value),
  });

const r2 = z.strictObject({
  accountId: accountId.optional(),
  jurisdiction: z.enum(["default", "eu", "fedramp"], "must be one of default, eu, fedramp").default("default"),
  endpoint: s3Endpoint.optional(),
  credentials: z.enum(["managed", "provided"], "must be managed or provided").default("managed"),
  bucket: z.enum(["existing", "import", "create"], "must be one of existing, import, create").default("existing"),
  location: z
    .enum(["apac", "eeur", "enam", "weur", "wnam", "oc"], "must be one of apac, eeur, enam, weur, wnam, oc")
    .optional(),
  tokenMaxAgeDays: days(365).optional(),
  abortUploadsAfterDays: days(365).optional(),
  locks: z
    .array(
      z.strictObject({
        prefix: z
          .string()
          .regex(/^[^/\s]\S*\/$/, "must be a folder such as warehouse/main/default/, with a slash at its end"),
        days: days(3650),
      }),
    )
    .default([]),
});

const r2Credentials = z.strictObject({ accessKeyId: text, secretAccessKey: text, token: text });

const mlRunner = z.strictObject({
  projectId: text,
  environmentId: text,
  serviceId: text,
  deploy: z.boolean("must be true or false").default(true),
});

/** The fields of the settings that are objects. */
export const OBJECTS = {
  auth: authFields,
  authClients,
  authz,
  authzCredentials,
  ports,
  verification,
  railway,
  r2,
  r2Credentials,
  mlRunner,
} as const;

/** Every setting as text to what the program is given. Pulumi.yaml describes them. */
export const schema = z.object({
  platform: oneOf("local", "railway"),
  version: z
    .string()
    .regex(/^\d+\.\d+\.\d+$/, "must be a release such as 0.13.3")
    .default("0.13.3"),
  binary: z.string().default(""),
  ports: json(ports, "an object of ports by process, {lakekeeper: 8181}").default({}),
  warehouse: z
    .string()
    .regex(/^[^/\s]{1,128}$/, "must be a name of at most 128 characters without / or blanks")
    .default("lakehouse"),
  bucket: bucket.default("lakehouse"),
  keyPrefix: keyPrefix.default(""),
  stsTokenValiditySeconds: integer(1, 604_800).default(3600),
  allowReplace: flag.default(false),
  allowUnregister: flag.default(false),
  protect: flag.default(false),
  sqlCatalog: z
    .string()
    .regex(
      /^$|^(sqlite|postgresql(\+\w+)?):\/\//,
      "must be a SQLAlchemy URI, sqlite:///path or postgresql://user:password@host/database",
    )
    .default(""),
  sqlCatalogName: z.string().default(""),
  namespaces: json(
    z.array(namespace).min(1, "must name at least one namespace"),
    "a list of namespaces, [main.default]",
  ).default(["main.default", "main.test"]),
  registrationConcurrency: integer(1, 32).default(8),
  auth: json(auth, "an object, {tokenLifetimeDays: 90}").default(auth.parse({})),
  authClients: json(
    unlessEmpty(authClients),
    "an object, {deployer: {clientId: ..., clientSecret: ...}, ml-runner: {...}, karma: {...}}",
  ).prefault("{}"),
  authz: json(authz, "an object, {mode: openfga, endpoint: ...}").default(authz.parse({})),
  authzCredentials: json(authzCredentials, "an object, {apiKey: ...} or {clientId: ..., clientSecret: ...}").default(
    {},
  ),
  vending: oneOf("off", "auto", "required").default("auto"),
  verification: json(verification, "an object, {writeProbe: true}").default({ writeProbe: false }),
  cutover: oneOf("sql", "read", "write", "retired").default("read"),
  restoredBackup: z.string().default(""),
  postgres: oneOf("managed", "external").default("managed"),
  postgresUrl: z
    .string()
    .regex(/^$|^postgres(ql)?:\/\/[^\s]+@[^\s/]+\/[^\s]+$/, "must be postgresql://user:password@host:port/database")
    .default(""),
  railway: json(railway, "an object, {workspaceId: ...}").default(railway.parse({})),
  r2: json(r2, "an object, {accountId: ...}").default(r2.parse({})),
  r2TokenGeneration: integer(1, 1_000_000).default(1),
  r2Credentials: json(
    unlessEmpty(r2Credentials),
    "an object, {accessKeyId: ..., secretAccessKey: ..., token: ...}",
  ).prefault("{}"),
  mlRunner: json(unlessEmpty(mlRunner), "an object, {projectId: ..., environmentId: ..., serviceId: ...}").prefault(
    "{}",
  ),
});
