import * as pulumi from "@pulumi/pulumi";
import { z } from "zod";
import { UserError } from "./clients/errors.ts";

/** The project's name in Pulumi.yaml, and so the namespace of its settings. */
const PROJECT = "lakekeeper";

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

const oneOf = <const Values extends readonly [string, ...string[]]>(...values: Values) =>
  z.enum(values, { error: `must be one of ${values.join(", ")}` });

const port = z.int("must be a port, 1024 to 65535").min(1024).max(65_535);

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

const lifetimes = z.object({
  tokenLifetimeDays: z.int().min(1, "must be 1 to 365").max(365, "must be 1 to 365").default(90),
  renewBeforeDays: z.int().min(0, "must be 0 or more").default(30),
});

const authFields = z.strictObject({
  ...lifetimes.shape,
  mode: oneOf("bootstrap-token").default("bootstrap-token"),
  algorithm: oneOf("RS256", "ES256").default("RS256"),
  audience: z.string().min(1, "must not be empty").default("lakekeeper"),
  keyGeneration: z.int().min(1, "must be 1 or more").default(1),
});

const auth = authFields
  .refine((value) => value.renewBeforeDays < value.tokenLifetimeDays, {
    path: ["renewBeforeDays"],
    // Also when another field is wrong, so that every problem is told at once.
    when: ({ value }) => lifetimes.safeParse(value).success,
    error: ({ input }) =>
      `must be less than auth.tokenLifetimeDays (${(input as { tokenLifetimeDays: number }).tokenLifetimeDays}), or every up renews every token`,
  })
  .transform(({ tokenLifetimeDays, renewBeforeDays, ...rest }) => ({
    ...rest,
    tokenLifetimeSeconds: tokenLifetimeDays * SECONDS_PER_DAY,
    renewBeforeSeconds: renewBeforeDays * SECONDS_PER_DAY,
  }));

const schema = z.object({
  platform: oneOf("local", "railway"),
  version: z
    .string()
    .regex(/^\d+\.\d+\.\d+$/, "must be a release such as 0.13.3")
    .default("0.13.3"),
  binary: z.string().default(""),
  ports: json(
    z.strictObject({
      postgres: port.optional(),
      r2: port.optional(),
      issuer: port.optional(),
      lakekeeper: port.optional(),
    }),
    "an object of ports by process, {lakekeeper: 8181}",
  ).default({}),
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
  vending: oneOf("off", "auto", "required").default("auto"),
  verification: json(
    z.strictObject({
      smokeTable: z
        .string()
        .regex(/^[^.]+(\.[^.]+)+$/, "must be a namespace and a table joined by dots (main.default.orders)")
        .optional(),
      writeProbe: z.boolean().default(false),
    }),
    "an object, {writeProbe: true}",
  ).default({ writeProbe: false }),
  cutover: oneOf("sql", "read", "write", "retired").default("read"),
});

/** Settings whose values no message may show. */
const SECRET: ReadonlySet<string> = new Set(["sqlCatalog"]);

/** The stack's settings, checked and typed. Secret ones are marked secret by whoever hands them to a resource. */
export type StackConfig = z.output<typeof schema>;

/**
 * Reads the settings of a stack.
 *
 * @param raw every setting as the engine hands it over: `lakekeeper:warehouse` to its text, JSON for lists and objects.
 * @throws UserError naming every problem at once, with the key, the value (never a secret's) and what would be right.
 */
export function readConfig(raw: Readonly<Record<string, string>> = pulumi.runtime.allConfig()): StackConfig {
  const ours = Object.entries(raw).flatMap(([key, value]) => {
    const [project, ...name] = key.split(":");
    return project === PROJECT ? [[name.join(":"), value] as const] : [];
  });
  const unknown = ours
    .filter(([name]) => !(name in schema.shape))
    .map(([name]) => `${PROJECT}:${name} is not a setting; the settings are ${Object.keys(schema.shape).join(", ")}`);
  const result = schema.safeParse(Object.fromEntries(ours));
  const problems = [
    ...unknown,
    ...(result.success ? [] : result.error.issues.flatMap((issue) => describe(issue, raw))),
  ];
  if (problems.length > 0 || !result.success) {
    throw new UserError(
      `The configuration of this stack has ${problems.length === 1 ? "a problem" : `${problems.length} problems`}; nothing was changed.\n` +
        problems.map((problem) => `  - ${problem}`).join("\n") +
        `\nSet a value with: pulumi config set <key> <value>   (--path for a field of an object)`,
    );
  }
  return result.data;
}

function describe(issue: z.core.$ZodIssue, raw: Readonly<Record<string, string>>): string[] {
  const [name = "", ...path] = issue.path.map(String);
  const field = [`${PROJECT}:${name}`, ...path].join(".");
  const text = raw[`${PROJECT}:${name}`];
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => `${field}.${key} is not a setting`);
  }
  if (text === undefined) {
    return [`${field} is not set: it ${issue.message}`];
  }
  return [`${field} is ${SECRET.has(name) ? "[secret]" : shown(text, path)}: it ${issue.message}`];
}

/** The value that was refused: the field itself when the setting is an object, else the whole text. */
function shown(text: string, path: readonly string[]): string {
  if (path.length === 0) return JSON.stringify(text);
  const value = path.reduce<unknown>(
    (object, key) => (object as Record<string, unknown> | undefined)?.[key],
    JSON.parse(text) as unknown,
  );
  return JSON.stringify(value) ?? "not set";
}
