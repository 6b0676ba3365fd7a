import * as pulumi from "@pulumi/pulumi";
import type { z } from "zod";
import { UserError } from "./clients/errors.ts";
import { withEmulatedAccounts } from "./config.emulated.ts";
import { requirements } from "./config.required.ts";
import { OBJECTS, schema } from "./config.schema.ts";

/** The project's name in Pulumi.yaml, and so the namespace of its settings. */
const PROJECT = "lakekeeper";

/** Settings whose values no message may show. */
const SECRET: ReadonlySet<string> = new Set([
  "sqlCatalog",
  "postgresUrl",
  "r2Credentials",
  "authClients",
  "authzCredentials",
]);

/** The stack's settings, checked and typed. Secret ones are marked secret by whoever hands them to a resource. */
export type StackConfig = z.output<typeof schema>;

/**
 * Reads the settings of a stack.
 *
 * @param raw every setting as the engine hands it over: `lakekeeper:warehouse` to its text, JSON for lists and objects;
 * on an emulated stack, the emulators' accounts in place of the operator's own.
 * @throws UserError naming every problem at once, with the key, the value (never a secret's) and what would be right.
 */
export function readConfig(
  raw: Readonly<Record<string, string>> = withEmulatedAccounts(pulumi.runtime.allConfig(), process.env),
): StackConfig {
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
    ...missing(raw),
    ...(result.success ? contradictions(result.data) : []),
  ];
  if (problems.length > 0 || !result.success) {
    throw new UserError(
      `The configuration of this stack has ${problems.length === 1 ? "a problem" : `${problems.length} problems`}; nothing was changed.\n` +
        problems.map((problem) => `  - ${problem}`).join("\n") +
        `\nSet a value with: ${configCommand()} <key> <value>   (--path for a field of an object)`,
    );
  }
  return result.data;
}

/** What sets a setting of this stack: the local one is not in the operator's own Pulumi. */
function configCommand(): string {
  const stack = pulumi.getStack();
  return stack === "local" ? "tools/pulumi config set" : `pulumi config set --stack ${stack}`;
}

/** Settings that are right by themselves and not together. */
function contradictions({ platform, auth, authz, authzCredentials, r2, keyPrefix }: StackConfig): string[] {
  const found: string[] = [];
  if (authz.mode === "openfga" && auth.mode === "none") {
    found.push(
      'lakekeeper:authz.mode is "openfga", but with lakekeeper:auth.mode none nobody says who he is, and OpenFGA lets ' +
        "nobody without a name do anything. Set lakekeeper:auth.mode to bootstrap-token or oidc",
    );
  }
  if (authz.mode === "openfga" && auth.previous !== undefined) {
    found.push(
      'lakekeeper:auth.previous is set, but lakekeeper:authz.mode is "openfga", where the users of another provider are ' +
        "others, who may do nothing: leave lakekeeper:auth.previous out",
    );
  }
  if (authz.mode === "allow-all" && (authz.endpoint !== undefined || Object.keys(authzCredentials).length > 0)) {
    found.push(
      'lakekeeper:authz.mode is "allow-all", so that every valid token is an administrator\'s, but OpenFGA is set ' +
        "(lakekeeper:authz.endpoint, lakekeeper:authzCredentials). Set lakekeeper:authz.mode to openfga, or leave the others out",
    );
  }
  if (authzCredentials.apiKey !== undefined && authzCredentials.clientId !== undefined) {
    found.push(
      "lakekeeper:authzCredentials has an apiKey and a clientId: Lakekeeper shows OpenFGA one of them, so leave the other out",
    );
  }
  if (r2.bucket === "existing" && (r2.abortUploadsAfterDays !== undefined || r2.locks.length > 0)) {
    found.push(
      'lakekeeper:r2.bucket is "existing": rules (abortUploadsAfterDays, locks) take the place of all that the bucket has, so it must be import or create',
    );
  }
  for (const { prefix } of r2.locks) {
    // Lakekeeper tries a warehouse by a file that it writes there and deletes.
    if (`${keyPrefix}/`.startsWith(prefix)) {
      found.push(
        `lakekeeper:r2.locks holds ${JSON.stringify(prefix)}: Lakekeeper has to delete the files by which it tries the ` +
          `warehouse's folder, lakekeeper:keyPrefix ${JSON.stringify(keyPrefix)}. It must be a folder inside that one, or beside it`,
      );
    }
  }
  const places = (["workersSubdomain", "workersDomain", "workersUrl"] as const).filter(
    (name) => auth[name] !== undefined,
  );
  if (places.length > 1) {
    found.push(
      `lakekeeper:auth names ${places.length} places for the issuer's documents (${places.join(", ")}): leave out all but one`,
    );
  }
  const { previous } = auth;
  if (previous?.mode === "oidc" && previous.issuerUrl === undefined) {
    found.push("lakekeeper:auth.previous.issuerUrl is not set: it must be the issuer of the provider before");
  }
  if (previous?.mode === auth.mode && previous.issuerUrl === auth.issuerUrl) {
    found.push(`lakekeeper:auth.previous is the provider in use: leave it out, or set lakekeeper:auth.mode to another`);
  }
  if (auth.mode === "none" && previous !== undefined) {
    found.push("lakekeeper:auth.previous is set, but with lakekeeper:auth.mode none nobody is asked for a token");
  }
  if (auth.mode === "none" && platform !== "local")
    found.push(
      `lakekeeper:auth.mode is "none": on ${platform} the catalog has a public address, where everybody would be an ` +
        "administrator of it and be given keys to the bucket. It must be bootstrap-token or oidc; none is for the local platform",
    );
  return found;
}

/** What the platform needs and is not there. */
function missing(raw: Readonly<Record<string, string>>): string[] {
  return requirements(raw, configCommand())
    .filter(({ isSet, onlyForUp }) => !isSet && !onlyForUp)
    .map(({ setting, what, where, command }) => `${setting} is not set: ${what} (${where}). ${command}`);
}

/** A setting that `readConfig` has found to be there. */
export function required<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new UserError(`${PROJECT}:${name} is not set.`);
  return value;
}

function describe(issue: z.core.$ZodIssue, raw: Readonly<Record<string, string>>): string[] {
  const [name = "", ...path] = issue.path.map(String);
  const field = [`${PROJECT}:${name}`, ...path].join(".");
  const text = raw[`${PROJECT}:${name}`];
  if (issue.code === "unrecognized_keys") {
    const fields = Object.keys(OBJECTS[name as keyof typeof OBJECTS].shape).join(", ");
    return issue.keys.map((key) => `${field}.${key} is not a setting; the fields of ${field} are ${fields}`);
  }
  if (text === undefined) {
    return [`${field} is not set: it ${issue.message}`];
  }
  const value = shown(text, path);
  const told = SECRET.has(name) && value !== NOT_SET ? "[secret]" : value;
  const wanted = issue.message.replace(/^Invalid input: expected (\w+), received \w+$/, "must be a $1");
  return [`${field} is ${told}: it ${wanted}`];
}

const NOT_SET = "not set";

/** The value that was refused: the field itself when the setting is an object, else the whole text. */
function shown(text: string, path: readonly string[]): string {
  if (path.length === 0) return JSON.stringify(text);
  const value = path.reduce<unknown>(
    (object, key) => (object as Record<string, unknown> | undefined)?.[key],
    JSON.parse(text) as unknown,
  );
  return JSON.stringify(value) ?? NOT_SET;
}
