import {
  reveal,
  secret,
  unknown,
  type CheckFailure,
  type CheckResponse,
  type ConfigRequest,
  type DiffResponse,
  type Properties,
} from "../protocol.ts";
import type { ProviderArgs } from "@pulumi/postgresql/provider.js";
import type { ServerSettings } from "./server.ts";

export type Environment = Record<string, string | undefined>;

/** The inputs of a provider, which travel as texts: all but strings as JSON. */
const args = {
  connectTimeout: "number",
  database: "string",
  host: "string",
  maxConnections: "number",
  password: "string",
  port: "number",
  sslmode: "string",
  superuser: "boolean",
  username: "string",
  awsRdsIamAuth: "unsupported",
  awsRdsIamProfile: "unsupported",
  awsRdsIamProviderRoleArn: "unsupported",
  awsRdsIamRegion: "unsupported",
  azureIdentityAuth: "unsupported",
  azureTenantId: "unsupported",
  clientcert: "unsupported",
  databaseUsername: "unsupported",
  expectedVersion: "unsupported",
  gcpIamImpersonateServiceAccount: "unsupported",
  scheme: "unsupported",
  sslMode: "unsupported",
  sslrootcert: "unsupported",
} as const satisfies Record<keyof ProviderArgs, string>;

/** What the engine adds. */
const added = ["version", "pluginDownloadURL"];

/**
 * The inputs of a provider as they are stored, with what is wrong with them.
 *
 * @throws Error in Go's words for what is no JSON
 */
export function checkedProvider({ name, news }: ConfigRequest): CheckResponse {
  const inputs: Properties = {};
  const failures: CheckFailure[] = [];
  for (const [key, value] of Object.entries(reveal(news) as Properties)) {
    inputs[key] = added.includes(key) ? value : textOf(key, value);
    const wrong = added.includes(key) ? undefined : argumentFailure(key, inputs[key]);
    const where = `Examine values at '${name}.${key}'.`;
    if (wrong !== undefined) failures.push({ reason: `could not validate provider configuration: ${wrong} ${where}` });
  }
  if (typeof inputs["password"] === "string") inputs["password"] = secret(inputs["password"]);
  return { inputs, ...(failures.length > 0 && { failures }) };
}

function typeOf(key: string): string | undefined {
  return Object.hasOwn(args, key) ? args[key as keyof ProviderArgs] : undefined;
}

function argumentFailure(key: string, value: unknown): string | undefined {
  const type = typeOf(key);
  if (type === undefined) return `Invalid or unknown key. There is no property ${key}.`;
  if (value === unknown) return undefined;
  if (type === "unsupported") return `The stand-in for PostgreSQL's plugin does not take ${key}.`;
  const parsed = type === "string" ? value : parsedArgument(value);
  return typeof parsed === type ? undefined : `Incorrect Type. ${key} must be a ${type}.`;
}

/** A number that the program gave as a text is JSON twice. */
function textOf(key: string, value: unknown): unknown {
  if (value === unknown || !["number", "boolean"].includes(typeOf(key) ?? "")) return value;
  const parsed = parsedArgument(value);
  return typeof parsed === "string" ? parsed : value;
}

function parsedArgument(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    const [first] = value.trim();
    const wrong =
      first === undefined
        ? "unexpected end of JSON input"
        : `invalid character '${first}' looking for beginning of value`;
    throw new Error(`CheckConfig failed because of malformed resource inputs: ${wrong}`);
  }
}

/** Every change of the provider is an update in place. */
export function providerDiff({ olds, news }: ConfigRequest): DiffResponse {
  const [before, after] = [reveal(olds) as Properties, reveal(news) as Properties];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const diffs = names.filter((name) => before[name] !== after[name] && !added.includes(name)).sort();
  if (diffs.length === 0) return {};
  const details = diffs.map((name) => {
    if (before[name] === undefined) return [name, { inputDiff: true }];
    return [name, { kind: after[name] === undefined ? "DELETE" : "UPDATE", inputDiff: true }];
  });
  return {
    changes: "DIFF_SOME",
    diffs,
    detailedDiff: Object.fromEntries(details) as NonNullable<DiffResponse["detailedDiff"]>,
  };
}

export function serverSettings(configured: Properties, environment: Environment): ServerSettings {
  const given = reveal(configured) as Record<string, string | undefined>;
  const json = (name: string, variable: string, otherwise: string): unknown =>
    JSON.parse(given[name] ?? environment[variable] ?? otherwise);
  return {
    host: given["host"] ?? environment["PGHOST"] ?? "localhost",
    port: Number(json("port", "PGPORT", "5432")),
    database: given["database"] ?? environment["PGDATABASE"] ?? "postgres",
    username: given["username"] ?? environment["PGUSER"] ?? "postgres",
    password: given["password"] ?? environment["PGPASSWORD"] ?? "",
    sslmode: given["sslmode"] ?? environment["PGSSLMODE"] ?? "require",
    superuser: json("superuser", "PGSUPERUSER", "true") === true,
    connectTimeout: Number(json("connectTimeout", "PGCONNECT_TIMEOUT", "180")),
    maxConnections: Number(json("maxConnections", "PGMAXCONNECTIONS", "20")),
  };
}
