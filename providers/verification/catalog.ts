import { isDeepStrictEqual } from "node:util";
import { gunzipSync } from "node:zlib";
import { request } from "undici";
import { HttpError, type HttpClient } from "../../clients/http.ts";
import {
  getConfig,
  IcebergCatalog,
  tableName,
  type AccessDelegation,
  type LoadedTable,
  type TableIdentifier,
} from "../../clients/iceberg.ts";
import { parseJson } from "../../clients/json.ts";
import { parseLocation, type S3Client } from "../../clients/s3.ts";
import type { VerificationInputs } from "./inputs.ts";
import { metadataDifferences } from "./metadata.ts";
import { Skip, type Seen } from "./report.ts";

const HEALTH_TIMEOUT_MS = 10_000;

/** One request and no second try: the question is how the server is now. */
export async function checkHealth(uri: string): Promise<Seen<true>> {
  const answer = await request(`${uri}/health`, { signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) }).catch(
    (error: NodeJS.ErrnoException) => {
      throw new Error(`no answer from ${uri}/health: ${error.code ?? error.message}`, { cause: error });
    },
  );
  const body = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`${uri}/health answers ${answer.statusCode}: ${body.slice(0, 300)}`);
  const { health } = parseHealth(body);
  if (health !== "ok") throw new Error(`${uri}/health answers ${body.slice(0, 300)}`);
  return { seen: "ok", found: true };
}

function parseHealth(body: string): { health?: unknown } {
  try {
    return parseJson(body) as { health?: unknown };
  } catch {
    return {};
  }
}

export async function checkAnonymous(anonymous: HttpClient, inputs: VerificationInputs): Promise<Seen<true>> {
  if (inputs.connection.identity.kind === "none") throw new Skip("this catalog is set up without authentication");
  try {
    await getConfig(anonymous, inputs.warehouse);
  } catch (error) {
    if (error instanceof HttpError && error.status === 401) return { seen: `401 ${error.type}`, found: true };
    throw error;
  }
  throw new Error("a request without a token is answered: anyone who reaches the catalog may do everything");
}

export async function checkConfig(reader: HttpClient, inputs: VerificationInputs): Promise<Seen<IcebergCatalog>> {
  const { defaults, overrides } = await getConfig(reader, inputs.warehouse);
  const uri = `${inputs.connection.uri.replace(/\/+$/, "")}/catalog`;
  if (overrides.uri !== uri) {
    throw new Error(
      `the server sends clients on to ${overrides.uri}, not ${uri}: set LAKEKEEPER__BASE_URI to the address that clients use`,
    );
  }
  if (defaults.prefix !== inputs.warehouseId) {
    throw new Error(`warehouse ${inputs.warehouse} is ${defaults.prefix}, not ${inputs.warehouseId}`);
  }
  return { seen: `uri ${uri}, prefix ${defaults.prefix}`, found: new IcebergCatalog(reader, defaults.prefix) };
}

export async function checkNamespaces(catalog: IcebergCatalog, namespaces: string[]): Promise<Seen<true>> {
  const missing: string[] = [];
  for (const name of namespaces) {
    const levels = name.split(".");
    const parent = levels.slice(0, -1);
    const siblings = await catalog.namespaces(parent.length === 0 ? undefined : parent);
    if (!siblings.some((sibling) => isDeepStrictEqual(sibling, levels))) missing.push(name);
  }
  if (missing.length > 0) throw new Error(`not listed: ${missing.join(", ")}`);
  return { seen: namespaces.join(", ") || "none asked for", found: true };
}

/** The table to look at, named by the last dot (`main.default.t000`): the one given, or the first that is found. */
export async function findSmokeTable(catalog: IcebergCatalog, inputs: VerificationInputs): Promise<TableIdentifier> {
  const levels = inputs.smokeTable.split(".");
  if (inputs.smokeTable !== "") return { namespace: levels.slice(0, -1), name: levels.at(-1)! };
  for (const namespace of inputs.namespaces) {
    const [first] = await catalog.tables(namespace.split("."));
    if (first !== undefined) return first;
  }
  const nothing = "there is no table that could be loaded";
  if (!inputs.tableRequired) throw new Skip(nothing);
  throw new Error(`${nothing}; keep lakekeeper:cutover at sql until one is registered`);
}

export async function loadSmokeTable(
  catalog: IcebergCatalog,
  table: TableIdentifier,
  delegation: AccessDelegation,
): Promise<LoadedTable> {
  const loaded = await catalog.loadTable(table, delegation);
  if (loaded === undefined) throw new Error(`the catalog has no table ${tableName(table)}`);
  return loaded;
}

/** The loaded table, and what it was asked for by. */
export interface SmokeTable extends LoadedTable {
  readonly identifier: TableIdentifier;
}

/** Without keys of ours to be handed: whoever brings his own must not be given others, which would win over his. */
export async function checkTable(catalog: IcebergCatalog, inputs: VerificationInputs): Promise<Seen<SmokeTable>> {
  const smokeTable = await findSmokeTable(catalog, inputs);
  const table = await loadSmokeTable(catalog, smokeTable, "client-managed");
  const { location } = table.metadata;
  const name = tableName(smokeTable);
  if (!location.startsWith(`${inputs.location}/`)) {
    throw new Error(`${name} lies at ${location}, outside the warehouse at ${inputs.location}`);
  }
  return { seen: `${name} at ${location}`, found: { ...table, identifier: smokeTable } };
}

const KEY_NAMES = ["s3.access-key-id", "s3.secret-access-key", "s3.session-token"];

export async function checkClientManaged(table: LoadedTable): Promise<Seen<true>> {
  const configs = [table.config ?? {}, ...(table["storage-credentials"] ?? []).map(({ config }) => config)];
  const given = KEY_NAMES.filter((name) => configs.some((config) => name in config));
  if (given.length > 0) throw new Error(`a client that brings its own keys is given ${given.join(", ")} all the same`);
  return { seen: "no keys", found: true };
}

/** The catalog's word against the file's, with 64-bit integers unrounded. */
export async function checkMetadata(table: LoadedTable, s3: S3Client): Promise<Seen<true>> {
  const location = table["metadata-location"];
  const content = await readFile(s3, location);
  const isGzip = content[0] === 0x1f && content[1] === 0x8b;
  const file = parseJson((isGzip ? gunzipSync(content) : content).toString());
  const differences = metadataDifferences(table.metadata, file);
  if (differences.length > 0) throw new Error(`${location} says something else about ${differences.join(", ")}`);
  const snapshot = (table.metadata["current-snapshot-id"] ?? "none") as number | bigint | string;
  return { seen: `same as ${location}, snapshot ${snapshot}`, found: true };
}

export async function readFile(s3: S3Client, location: string): Promise<Buffer> {
  const { bucket, key } = parseLocation(location);
  return s3.get(bucket, key);
}
