import { isObject, type Json, type JsonObject } from "../http/json.ts";

/** Table metadata in canonical form (see {@link canonicalMetadata}). Ids beyond 2^53 are bigint. */
export type Metadata = JsonObject & {
  "format-version": number;
  "table-uuid": string;
  location: string;
};

/** Keys in the order in which the catalog writes them. */
const order = [
  "format-version",
  "table-uuid",
  "location",
  "last-sequence-number",
  "last-updated-ms",
  "last-column-id",
  "schema",
  "schemas",
  "current-schema-id",
  "partition-spec",
  "partition-specs",
  "default-spec-id",
  "last-partition-id",
  "properties",
  "current-snapshot-id",
  "snapshot-log",
  "metadata-log",
  "sort-orders",
  "default-sort-order-id",
  "refs",
  "statistics",
  "partition-statistics",
  "next-row-id",
  "encryption-keys",
  "snapshots",
];

/** Left out when there is nothing in them. */
const omittedWhenEmpty = new Set([
  "properties",
  "snapshot-log",
  "metadata-log",
  "statistics",
  "partition-statistics",
  "encryption-keys",
  "snapshots",
]);

const requiredInV2 = [
  "table-uuid",
  "location",
  "last-sequence-number",
  "last-updated-ms",
  "last-column-id",
  "schemas",
  "current-schema-id",
  "partition-specs",
  "default-spec-id",
  "last-partition-id",
  "sort-orders",
  "default-sort-order-id",
];

const required: Record<number, readonly string[]> = {
  1: ["location", "last-updated-ms", "last-column-id"],
  2: requiredInV2,
  3: [...requiredInV2, "next-row-id"],
};

export function isEmpty(value: Json | undefined): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

/** A list of objects; anything else reads as none. */
export function objects(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** A schema without the empty list of identifier fields that some writers add. */
export function canonicalSchema(schema: JsonObject): JsonObject {
  const { "schema-id": id, "identifier-field-ids": identifiers, type, fields, ...rest } = schema;
  return {
    "schema-id": id ?? 0,
    ...(isEmpty(identifiers) ? {} : { "identifier-field-ids": identifiers! }),
    type: type ?? "struct",
    fields: fields ?? [],
    ...rest,
  };
}

function canonicalSnapshot(snapshot: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(snapshot).filter(([, value]) => value !== null));
}

/** What format version 1 says in the singular, in the plural too. */
function completeV1(metadata: JsonObject): JsonObject {
  const schemas = isEmpty(metadata["schemas"]) ? [metadata["schema"] ?? {}] : metadata["schemas"]!;
  const specs = isEmpty(metadata["partition-specs"])
    ? [{ "spec-id": 0, fields: metadata["partition-spec"] ?? [] }]
    : metadata["partition-specs"]!;
  const currentSchemaId = metadata["current-schema-id"] ?? objects(schemas)[0]?.["schema-id"] ?? 0;
  const defaultSpecId = metadata["default-spec-id"] ?? 0;
  const fieldIds = objects(specs).flatMap((spec) =>
    objects(spec["fields"]).map((field) => Number(field["field-id"] ?? 999)),
  );
  return {
    ...metadata,
    schemas,
    schema:
      objects(schemas).find((schema) => (schema["schema-id"] ?? 0) === currentSchemaId) ?? metadata["schema"] ?? {},
    "current-schema-id": currentSchemaId,
    "partition-specs": specs,
    "partition-spec": objects(specs).find((spec) => spec["spec-id"] === defaultSpecId)?.["fields"] ?? [],
    "default-spec-id": defaultSpecId,
    "last-partition-id": metadata["last-partition-id"] ?? Math.max(999, ...fieldIds),
    "sort-orders": isEmpty(metadata["sort-orders"]) ? [{ "order-id": 0, fields: [] }] : metadata["sort-orders"]!,
    "default-sort-order-id": metadata["default-sort-order-id"] ?? 0,
  };
}

/** Undefined when the value is not table metadata of a known format version. */
export function readMetadata(value: Json): Metadata | undefined {
  if (!isObject(value)) return undefined;
  const version = value["format-version"];
  const needed = typeof version === "number" ? required[version] : undefined;
  if (needed === undefined || needed.some((key) => value[key] === undefined || value[key] === null)) return undefined;
  if (version === 1 && isEmpty(value["schemas"]) && !isObject(value["schema"])) return undefined;
  if (typeof value["location"] !== "string" || typeof (value["table-uuid"] ?? "") !== "string") return undefined;
  return canonicalMetadata(value);
}

/**
 * The form in which the catalog keeps, writes and answers metadata: a fixed order of keys, nothing empty, no trailing
 * slash at the location, a main branch for the current snapshot (not in format version 1).
 */
export function canonicalMetadata(metadata: JsonObject): Metadata {
  const version = Number(metadata["format-version"]);
  const whole = version === 1 ? completeV1(metadata) : metadata;
  const current = whole["current-snapshot-id"];
  const hasCurrent = current !== undefined && current !== null && current !== -1;
  const refs: JsonObject = isObject(whole["refs"]) ? whole["refs"] : {};
  const main: JsonObject =
    hasCurrent && refs["main"] === undefined ? { main: { "snapshot-id": current, type: "branch" } } : {};
  const all: Record<string, Json | undefined> = {
    ...whole,
    location: (whole["location"] as string).replace(/\/+$/, ""),
    schema: version === 1 && isObject(whole["schema"]) ? canonicalSchema(whole["schema"]) : undefined,
    schemas: objects(whole["schemas"]).map(canonicalSchema),
    "partition-spec": version === 1 ? whole["partition-spec"] : undefined,
    "last-sequence-number": version === 1 ? undefined : whole["last-sequence-number"],
    "current-snapshot-id": hasCurrent ? current : undefined,
    refs: version === 1 ? undefined : { ...refs, ...main },
    snapshots: objects(whole["snapshots"]).map(canonicalSnapshot),
  };
  const entries = order
    .map((key) => [key, all[key]] as const)
    .filter(([key, value]) => value !== undefined && !(omittedWhenEmpty.has(key) && isEmpty(value)));
  return Object.fromEntries(entries) as Metadata;
}

/** Properties under which writers would put files where the catalog does not look. */
export function unsupportedProperty(properties: Json | undefined): string | undefined {
  return Object.keys(isObject(properties) ? properties : {}).find(
    (key) =>
      key.startsWith("write.data.path") ||
      (key.startsWith("write.metadata.") &&
        !key.startsWith("write.metadata.metrics.") &&
        !["previous-versions-max", "delete-after-commit.enabled", "compression-codec"].includes(
          key.slice("write.metadata.".length),
        )),
  );
}

/** Without the snapshots that no branch or tag points to. */
export function withReferencedSnapshots(metadata: JsonObject): JsonObject {
  const refs = Object.values(isObject(metadata["refs"]) ? metadata["refs"] : {}).filter(isObject);
  const referenced = new Set([metadata["current-snapshot-id"], ...refs.map((ref) => ref["snapshot-id"])]);
  const snapshots = objects(metadata["snapshots"]).filter((snapshot) => referenced.has(snapshot["snapshot-id"]));
  return { ...metadata, snapshots };
}
