import type { Json, JsonObject } from "../http/json.ts";
import {
  i64,
  list,
  mapOf,
  maybe,
  object,
  oneOf,
  type Path,
  type Shape,
  type Shaped,
  ShapeError,
  string,
  struct,
  tagged,
} from "../http/shape.ts";
import type { Id, MetadataBuilder } from "./builder.ts";

/** A 64-bit id: bigint where a number could not hold it. */
export const id64: Shape<Id> = (value: Json, path: Path) => {
  if (typeof value === "bigint") {
    if (BigInt.asIntN(64, value) === value) return value;
    throw new ShapeError(path, `invalid value: integer \`${value}\`, expected i64`);
  }
  return i64(value, path);
};

const snapshot: Shape<JsonObject> = (value, path) => {
  const read = object(value, path);
  for (const key of ["snapshot-id", "timestamp-ms", "manifest-list", "summary"])
    if (!Object.hasOwn(read, key)) throw new ShapeError(path, `missing field \`${key}\``);
  id64(read["snapshot-id"]!, path);
  return read;
};

/** The updates of the Iceberg REST specification. */
export const tableUpdate = tagged("action", {
  "assign-uuid": struct("AssignUuid", { uuid: string }),
  "upgrade-format-version": struct("UpgradeFormatVersion", { "format-version": i64 }),
  "add-schema": struct("AddSchema", { schema: object, "last-column-id": maybe(i64) }),
  "set-current-schema": struct("SetCurrentSchema", { "schema-id": i64 }),
  "add-spec": struct("AddSpec", { spec: object }),
  "set-default-spec": struct("SetDefaultSpec", { "spec-id": i64 }),
  "add-sort-order": struct("AddSortOrder", { "sort-order": object }),
  "set-default-sort-order": struct("SetDefaultSortOrder", { "sort-order-id": i64 }),
  "add-snapshot": struct("AddSnapshot", { snapshot }),
  "set-snapshot-ref": struct("SetSnapshotRef", {
    "ref-name": string,
    type: oneOf("branch", "tag"),
    "snapshot-id": id64,
    "max-ref-age-ms": maybe(id64),
    "max-snapshot-age-ms": maybe(id64),
    "min-snapshots-to-keep": maybe(i64),
  }),
  "remove-snapshots": struct("RemoveSnapshots", { "snapshot-ids": list(id64) }),
  "remove-snapshot-ref": struct("RemoveSnapshotRef", { "ref-name": string }),
  "set-location": struct("SetLocation", { location: string }),
  "set-properties": struct("SetProperties", { updates: mapOf(string) }),
  "remove-properties": struct("RemoveProperties", { removals: list(string) }),
  "remove-partition-specs": struct("RemovePartitionSpecs", { "spec-ids": list(id64) }),
  "remove-schemas": struct("RemoveSchemas", { "schema-ids": list(id64) }),
  "set-statistics": struct("SetStatistics", { statistics: object }),
  "remove-statistics": struct("RemoveStatistics", { "snapshot-id": id64 }),
  "set-partition-statistics": struct("SetPartitionStatistics", { "partition-statistics": object }),
  "remove-partition-statistics": struct("RemovePartitionStatistics", { "snapshot-id": id64 }),
  "add-encryption-key": struct("AddEncryptionKey", { "encryption-key": object }),
  "remove-encryption-key": struct("RemoveEncryptionKey", { "key-id": string }),
});
export type TableUpdate = Shaped<typeof tableUpdate>;

function setRef(builder: MetadataBuilder, update: Extract<TableUpdate, { action: "set-snapshot-ref" }>): void {
  const { "ref-name": name, "snapshot-id": id, type } = update;
  const limits = ["max-ref-age-ms", "max-snapshot-age-ms", "min-snapshots-to-keep"] as const;
  const given = limits.flatMap((key) => (update[key] === null ? [] : [[key, update[key]] as const]));
  builder.setRef(name, { "snapshot-id": id, type, ...Object.fromEntries(given) });
}

/** Throws 400 DataInvalid for an update that contradicts the metadata. */
export function applyUpdate(builder: MetadataBuilder, update: TableUpdate): void {
  switch (update.action) {
    case "assign-uuid":
      return builder.assignUuid(update.uuid);
    case "upgrade-format-version":
      return builder.upgradeFormatVersion(update["format-version"]);
    case "add-schema":
      return builder.addSchema(update.schema);
    case "set-current-schema":
      return builder.setCurrentSchema(update["schema-id"]);
    case "add-spec":
      return builder.addSpec(update.spec);
    case "set-default-spec":
      return builder.setDefaultSpec(update["spec-id"]);
    case "add-sort-order":
      return builder.addSortOrder(update["sort-order"]);
    case "set-default-sort-order":
      return builder.setDefaultSortOrder(update["sort-order-id"]);
    case "add-snapshot":
      return builder.addSnapshot(update.snapshot);
    case "set-snapshot-ref":
      return setRef(builder, update);
    case "remove-snapshots":
      return builder.removeSnapshots(update["snapshot-ids"]);
    case "remove-snapshot-ref":
      return builder.removeRef(update["ref-name"]);
    case "set-location":
      return builder.setLocation(update.location);
    case "set-properties":
      return builder.setProperties(update.updates);
    case "remove-properties":
      return builder.removeProperties(update.removals);
    case "remove-partition-specs":
      return builder.removeSpecs(update["spec-ids"]);
    case "remove-schemas":
      return builder.removeSchemas(update["schema-ids"]);
    case "set-statistics":
      return builder.setStatistics("statistics", update.statistics);
    case "remove-statistics":
      return builder.removeOf("statistics", [update["snapshot-id"]]);
    case "set-partition-statistics":
      return builder.setStatistics("partition-statistics", update["partition-statistics"]);
    case "remove-partition-statistics":
      return builder.removeOf("partition-statistics", [update["snapshot-id"]]);
    case "add-encryption-key":
      return builder.addEncryptionKey(update["encryption-key"]);
    case "remove-encryption-key":
      return builder.removeEncryptionKey(update["key-id"]);
  }
}
