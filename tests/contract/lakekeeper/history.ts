import { isObject, type JsonObject } from "../../../emulators/lakekeeper/http/json.ts";
import { readMetadataFile } from "../../../emulators/lakekeeper/iceberg/metadataFile.ts";
import { bucketOf, type Client } from "./client.ts";
import { inDefault, type TableWorld } from "./tableWorld.ts";

export type SnapshotId = number | bigint;

/** A table as a server tells it. */
export interface TableNow {
  readonly metadata: JsonObject;
  readonly metadataLocation: string;
  /** The snapshots of the main branch, the first one first. */
  readonly history: readonly SnapshotId[];
}

export async function readTable(call: Client, tables: TableWorld, name: string): Promise<TableNow> {
  const { status, body } = await call("GET", `${tables.catalog}/${inDefault}/tables/${name}`);
  if (status !== 200 || !isObject(body)) throw new Error(`Loading ${name} was answered with ${status}.`);
  const metadata = body["metadata"] as JsonObject;
  const log = (metadata["snapshot-log"] ?? []) as JsonObject[];
  return {
    metadata,
    metadataLocation: body["metadata-location"] as string,
    history: log.map((entry) => entry["snapshot-id"] as SnapshotId),
  };
}

/** Expects that each snapshot follows the one before it, that none lies beside them, and that the file has it all. */
export async function expectSound(
  { metadata, metadataLocation, history }: TableNow,
  tables: TableWorld,
): Promise<void> {
  const snapshots = (metadata["snapshots"] ?? []) as JsonObject[];
  const byId = new Map(snapshots.map((snapshot) => [snapshot["snapshot-id"], snapshot]));
  expect(new Set(history).size).toBe(history.length);
  expect(snapshots).toHaveLength(history.length);
  expect(history.map((id) => byId.get(id)?.["parent-snapshot-id"])).toEqual([undefined, ...history].slice(0, -1));
  expect(history.map((id) => byId.get(id)?.["sequence-number"])).toEqual(history.map((_, index) => index + 1));
  expect(metadata["current-snapshot-id"]).toBe(history.at(-1));
  expect(await readMetadataFile(bucketOf(tables.world), metadataLocation)).toEqual(metadata);
}
