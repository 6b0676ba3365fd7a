import { gunzipSync } from "node:zlib";
import { z } from "zod";
import { UserError } from "./errors.ts";
import { parseJson } from "./json.ts";

/** What decides whether Lakekeeper takes a table, from its metadata file. */
export interface TableMetadata {
  readonly tableUuid: string;
  /** Folder of the table, as in `s3://lakehouse/warehouse/main.default/t000`. */
  readonly location: string;
  readonly formatVersion: number;
  /** Absent for a table that was never written to. */
  readonly currentSnapshotId: bigint | undefined;
  /** Properties for which Lakekeeper refuses the table, each with its value, as in `write.data.path=s3://...`. */
  readonly refusedProperties: readonly string[];
}

const MAX_NAMESPACE_DEPTH = 5;

/**
 * Reasons why Lakekeeper 0.13.3 would refuse to register these tables, as far as names and pointers tell; empty when
 * there are none. Each names its table.
 *
 * @param tables from table, as in `main.default.t000`, to its metadata location
 * @param warehouseLocation `s3://bucket` or `s3://bucket/prefix`
 */
export function validatePointers(tables: Readonly<Record<string, string>>, warehouseLocation: string): string[] {
  const entries = Object.entries(tables);
  return [
    ...entries.flatMap(([table]) => nameProblems(table).map((problem) => `${table}: ${problem}`)),
    ...entries.flatMap(([table, location]) =>
      pointerProblems(location, warehouseLocation).map((problem) => `${table}: ${problem}`),
    ),
    ...shared(entries, (table) => table.toLowerCase()).map(
      ([, names]) => `${names.join(", ")}: the names differ only in case, which Lakekeeper does not tell apart.`,
    ),
    ...shared(entries, (_, location) => location).map(
      ([location, names]) => `${names.join(", ")}: one metadata file, ${location}, is a single table to Lakekeeper.`,
    ),
  ];
}

/**
 * Reads a metadata file as Lakekeeper does: gzip is told by the name `*.gz.metadata.json`, not by the content.
 *
 * @throws UserError when the file is not Iceberg table metadata in the form its name promises
 */
export function inspectMetadata(metadataLocation: string, body: Uint8Array): TableMetadata {
  const metadata = metadataFile.safeParse(readJson(metadataLocation, body));
  if (!metadata.success)
    throw new UserError(`${metadataLocation} is not Iceberg table metadata: ${z.prettifyError(metadata.error)}`);
  return {
    tableUuid: metadata.data["table-uuid"],
    location: metadata.data.location,
    formatVersion: metadata.data["format-version"],
    currentSnapshotId: snapshotId(metadata.data["current-snapshot-id"]),
    refusedProperties: Object.entries(metadata.data.properties)
      .filter(([name]) => isRefused(name))
      .map(([name, value]) => `${name}=${value}`),
  };
}

/**
 * Reasons why Lakekeeper 0.13.3 would refuse to register these tables, as far as their metadata tells; empty when there
 * are none. Each names its table.
 */
export function validateMetadata(tables: Readonly<Record<string, TableMetadata>>, warehouseLocation: string): string[] {
  const entries = Object.entries(tables);
  return [
    ...entries
      .filter(([, { location }]) => !isInside(location, warehouseLocation))
      .map(([table, { location }]) => `${table}: its location ${location} is not inside ${warehouseLocation}.`),
    ...entries.flatMap(([table, { refusedProperties }]) =>
      refusedProperties.map(
        (property) => `${table}: Lakekeeper does not take a table with ${property}. Rewrite the table without it.`,
      ),
    ),
    ...shared(entries, (_, { tableUuid }) => tableUuid).map(
      ([uuid, names]) => `${names.join(", ")}: one table-uuid, ${uuid}, is a single table to Lakekeeper.`,
    ),
    ...nested(entries).map(
      ([inner, outer]) => `${inner}: its location ${tables[inner]!.location} lies inside that of ${outer}.`,
    ),
  ];
}

function nameProblems(table: string): string[] {
  const levels = table.split(".");
  const problems = [];
  if (levels.includes("") || levels.length < 2)
    problems.push("a table is named by its namespace and its name, joined by dots, none of them empty.");
  if (levels.length - 1 > MAX_NAMESPACE_DEPTH)
    problems.push(`its namespace has ${levels.length - 1} levels; Lakekeeper takes ${MAX_NAMESPACE_DEPTH}.`);
  if (levels.slice(0, -1).some((level) => level.includes("+")))
    problems.push("Lakekeeper takes no + in the name of a namespace.");
  return problems;
}

function pointerProblems(location: string, warehouseLocation: string): string[] {
  if (location === "") return ["the catalog has no metadata location for it."];
  const problems = [];
  if (!location.startsWith("s3://"))
    problems.push(
      `its metadata location ${location} does not begin with s3://, the only scheme Lakekeeper takes here.`,
    );
  else if (!isInside(location, warehouseLocation))
    problems.push(`its metadata location ${location} is not inside the warehouse ${warehouseLocation}.`);
  if (!location.endsWith(".metadata.json"))
    problems.push(`its metadata location ${location} does not end in .metadata.json.`);
  return problems;
}

/** Strictly inside: Lakekeeper refuses a table at the warehouse's own location. */
function isInside(location: string, parent: string): boolean {
  const folder = withSlash(parent);
  return withSlash(location).startsWith(folder) && withSlash(location) !== folder;
}

function withSlash(location: string): string {
  return `${location.replace(/\/+$/, "")}/`;
}

/** Tables by what they must not share: each shared value with the names that have it. */
function shared<T>(entries: [string, T][], by: (table: string, value: T) => string): [string, string[]][] {
  const groups = Map.groupBy(entries, ([table, value]) => by(table, value));
  return [...groups]
    .filter(([, members]) => members.length > 1)
    .map(([value, members]) => [value, members.map(([table]) => table)]);
}

/** Pairs of tables, the first inside the second or at the same place. In sorted order a folder precedes what it holds. */
function nested(entries: [string, TableMetadata][]): [string, string][] {
  const folders = entries.map(([table, { location }]) => ({ table, folder: withSlash(location) }));
  folders.sort((a, b) => (a.folder < b.folder ? -1 : 1));
  const pairs: [string, string][] = [];
  let outer: (typeof folders)[number] | undefined;
  for (const current of folders) {
    if (outer && current.folder.startsWith(outer.folder)) pairs.push([current.table, outer.table]);
    else outer = current;
  }
  return pairs;
}

function readJson(metadataLocation: string, body: Uint8Array): unknown {
  const promisesGzip = metadataLocation.endsWith(".gz.metadata.json");
  const isGzip = body[0] === 0x1f && body[1] === 0x8b;
  if (promisesGzip !== isGzip)
    throw new UserError(
      `${metadataLocation} is ${isGzip ? "" : "not "}gzipped, but its name says otherwise: ` +
        `Lakekeeper unpacks exactly the files that end in .gz.metadata.json.`,
    );
  try {
    return parseJson(new TextDecoder("utf-8", { fatal: true }).decode(isGzip ? gunzipSync(body) : body));
  } catch (error) {
    throw new UserError(`${metadataLocation} is not a metadata file: ${(error as Error).message}`, { cause: error });
  }
}

const metadataFile = z.object({
  "format-version": z.literal([1, 2, 3]),
  "table-uuid": z.guid(),
  location: z.string().min(1),
  "current-snapshot-id": z.union([z.int(), z.bigint()]).nullish(),
  properties: z.record(z.string(), z.string()).default({}),
});

/** Writers before format version 3 say -1 for "none". */
function snapshotId(value: number | bigint | null | undefined): bigint | undefined {
  return value == null || value === -1 ? undefined : BigInt(value);
}

/** Of `write.metadata.*`, Lakekeeper 0.13.3 takes what does not move files. */
const TAKEN_METADATA_PROPERTY =
  /^write\.metadata\.(previous-versions-max|delete-after-commit\.enabled|compression-codec|metrics\..+)$/;

function isRefused(property: string): boolean {
  return (
    property.startsWith("write.data.path") ||
    (property.startsWith("write.metadata.") && !TAKEN_METADATA_PROPERTY.test(property))
  );
}
