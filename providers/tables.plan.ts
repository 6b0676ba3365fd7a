import type { TableMetadata } from "../clients/iceberg.ts";

export type Pointers = Readonly<Record<string, string>>;

/** What has to happen to a set of registered tables. */
export interface TablesPlan {
  readonly add: string[];
  readonly move: string[];
  readonly remove: string[];
}

export function planTables(registered: Pointers, wanted: Pointers): TablesPlan {
  const names = Object.keys(wanted);
  return {
    add: names.filter((name) => !(name in registered)),
    move: names.filter((name) => name in registered && registered[name] !== wanted[name]),
    remove: Object.keys(registered).filter((name) => !(name in wanted)),
  };
}

const MOST_LINES = 25;

/** The plan to be read: a line for each table. */
export function describePlan(plan: TablesPlan, registered: Pointers, wanted: Pointers): string[] {
  const file = (pointer: string | undefined) => pointer?.split("/").at(-1) ?? "";
  const lines = [
    ...plan.remove.map((name) => `- ${name} (files stay)`),
    ...plan.move.map((name) => `~ ${name}: ${file(registered[name])} -> ${file(wanted[name])}`),
    ...plan.add.map((name) => `+ ${name}`),
  ];
  const more = lines.length - MOST_LINES;
  return more > 0 ? [...lines.slice(0, MOST_LINES), `and ${more} more`] : lines;
}

/** A metadata file of a table: where it is, and what is in it. */
export interface Version {
  readonly pointer: string;
  readonly metadata: TableMetadata;
}

/**
 * How one version of a table stands to another.
 *
 * - `newer`: it goes back to the other one, so nothing is lost by moving to it
 * - `older`: the other one goes back to it
 * - `forked`: both have commits that the other has not
 */
export type Standing = "same" | "newer" | "older" | "forked" | "another table";

export function standing(version: Version, other: Version): Standing {
  if (version.pointer === other.pointer) return "same";
  if (version.metadata["table-uuid"] !== other.metadata["table-uuid"]) return "another table";
  if (goesBackTo(version.metadata, other)) return "newer";
  if (goesBackTo(other.metadata, version)) return "older";
  return "forked";
}

/** The log of a table's earlier metadata files is cut off at some length; what is older than all of it is behind it. */
function goesBackTo(metadata: TableMetadata, version: Version): boolean {
  const log = metadata["metadata-log"] ?? [];
  if (isInLog(metadata, version.pointer)) return true;
  const oldest = log[0]?.["timestamp-ms"];
  return oldest !== undefined && version.metadata["last-updated-ms"] < oldest;
}

/** True when a table once had this metadata file and has moved on. */
export function isInLog(metadata: TableMetadata, pointer: string): boolean {
  return (metadata["metadata-log"] ?? []).some((entry) => entry["metadata-file"] === pointer);
}
