import { CatalogError } from "../http/errors.ts";
import { isObject, type Json } from "../http/json.ts";
import { i64, nullable, type Shaped, string, struct, tagged } from "../http/shape.ts";
import type { Metadata } from "./metadata.ts";
import { id64 } from "./updates.ts";

/** The requirements of the Iceberg REST specification. */
export const tableRequirement = tagged("type", {
  "assert-create": struct("NotExist", {}),
  "assert-table-uuid": struct("UuidMatch", { uuid: string }),
  "assert-ref-snapshot-id": struct("RefSnapshotIdMatch", { ref: string, "snapshot-id": nullable(id64) }),
  "assert-last-assigned-field-id": struct("LastAssignedFieldIdMatch", { "last-assigned-field-id": i64 }),
  "assert-current-schema-id": struct("CurrentSchemaIdMatch", { "current-schema-id": i64 }),
  "assert-last-assigned-partition-id": struct("LastAssignedPartitionIdMatch", { "last-assigned-partition-id": i64 }),
  "assert-default-spec-id": struct("DefaultSpecIdMatch", { "default-spec-id": i64 }),
  "assert-default-sort-order-id": struct("DefaultSortOrderIdMatch", { "default-sort-order-id": i64 }),
});
export type TableRequirement = Shaped<typeof tableRequirement>;

function conflict(problem: string, context: Record<string, Json | undefined> = {}): CatalogError {
  const parts = Object.entries(context).map(([key, value]) => `${key}: ${String(value as string)}`);
  const where = parts.length === 0 ? "" : `, context: { ${parts.join(", ")} }`;
  return new CatalogError(
    409,
    "CatalogCommitConflicts",
    `CatalogCommitConflicts${where} => Requirement failed: ${problem}`,
  );
}

function requireEqual(expected: Json, found: Json | undefined, problem: string): void {
  if (expected !== found) throw conflict(problem, { expected, found });
}

function requireRef(metadata: Metadata, name: string, expected: number | bigint | null): void {
  const refs = isObject(metadata["refs"]) ? metadata["refs"] : {};
  const ref = refs[name];
  // Format version 1 has no refs; its current snapshot is the main branch.
  const found = isObject(ref) ? ref["snapshot-id"] : name === "main" ? metadata["current-snapshot-id"] : undefined;
  if (expected === null) {
    if (found !== undefined) throw conflict(`Branch or tag \`${name}\` already exists`);
    return;
  }
  if (found === undefined) throw conflict(`Branch or tag \`${name}\` not found`, { expected });
  requireEqual(expected, found, `Branch or tag \`${name}\`'s snapshot has changed`);
}

/** Throws 409 CatalogCommitConflicts when the table is not what the client thinks it is. */
export function checkRequirement(metadata: Metadata, requirement: TableRequirement): void {
  switch (requirement.type) {
    case "assert-create":
      throw conflict("Table exists", { id: metadata["table-uuid"] });
    case "assert-table-uuid":
      return requireEqual(requirement.uuid, metadata["table-uuid"], "Table UUID does not match");
    case "assert-ref-snapshot-id":
      return requireRef(metadata, requirement.ref, requirement["snapshot-id"]);
    case "assert-last-assigned-field-id":
      return requireEqual(
        requirement["last-assigned-field-id"],
        metadata["last-column-id"],
        "Last assigned field id does not match",
      );
    case "assert-current-schema-id":
      return requireEqual(
        requirement["current-schema-id"],
        metadata["current-schema-id"],
        "Current schema id does not match",
      );
    case "assert-last-assigned-partition-id":
      return requireEqual(
        requirement["last-assigned-partition-id"],
        metadata["last-partition-id"],
        "Last assigned partition id does not match",
      );
    case "assert-default-spec-id":
      return requireEqual(
        requirement["default-spec-id"],
        metadata["default-spec-id"],
        "Default partition spec id does not match",
      );
    case "assert-default-sort-order-id":
      return requireEqual(
        requirement["default-sort-order-id"],
        metadata["default-sort-order-id"],
        "Default sort order id does not match",
      );
  }
}
