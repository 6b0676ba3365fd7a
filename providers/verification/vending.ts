import { randomUUID } from "node:crypto";
import type { LoadedTable } from "../../clients/iceberg.ts";
import { parseLocation, S3Client, S3Error, type S3Access } from "../../clients/s3.ts";
import { Skip, type Checks, type Seen } from "./report.ts";

/** The vended credentials and the one place they are for. */
export interface Vended {
  readonly s3: S3Client;
  readonly bucket: string;
  /** Key of the table's location, without a slash at the end. */
  readonly key: string;
}

/** Leeway for clocks that differ between here and the server. */
const CLOCK_SKEW_SECONDS = 120;

/**
 * Takes the credentials out of a load with `vended-credentials`. Some clients read `config` alone and others
 * `storage-credentials`, so both must hold them.
 *
 * @param validitySeconds the warehouse's `sts-token-validity-seconds`. Lakekeeper 0.13.3 hands the same credentials out
 * again for half of it.
 */
export async function checkVended(table: LoadedTable, validitySeconds: number, checks: Checks): Promise<Seen<Vended>> {
  const { location } = table.metadata;
  const vended = table["storage-credentials"] ?? [];
  if (vended.length === 0) throw new Error("the answer has no storage-credentials");
  const config = vended[0]!.config;
  const access = accessOf(config);
  checks.hide(access.accessKeyId, access.secretAccessKey, access.sessionToken ?? "");
  const prefixes = vended.map(({ prefix }) => prefix);
  if (prefixes.length !== 1 || prefixes[0]!.replace(/\/+$/, "") !== location.replace(/\/+$/, "")) {
    throw new Error(`the credentials are for ${prefixes.join(", ")}, not for the table's location ${location}`);
  }
  for (const name of ["s3.access-key-id", "s3.secret-access-key", "s3.session-token", "s3.endpoint"]) {
    if (table.config?.[name] !== config[name]) throw new Error(`config and storage-credentials differ in ${name}`);
  }
  const minutes = checkExpiry(config, validitySeconds);
  const { bucket, key } = parseLocation(location.replace(/\/+$/, ""));
  return { seen: `for ${location}, ${minutes} minutes more`, found: { s3: new S3Client(access), bucket, key } };
}

/** The keys in the configuration that comes with a table. */
export function accessOf(config: Record<string, string>): S3Access {
  const value = (name: string) => {
    if (!config[name]) throw new Error(`the storage-credentials have no ${name}`);
    return config[name];
  };
  return {
    endpoint: value("s3.endpoint"),
    region: value("s3.region"),
    accessKeyId: value("s3.access-key-id"),
    secretAccessKey: value("s3.secret-access-key"),
    sessionToken: value("s3.session-token"),
    pathStyle: config["s3.path-style-access"] !== "false",
  };
}

/** @returns whole minutes that the session lasts. */
function checkExpiry(config: Record<string, string>, validitySeconds: number): number {
  const expires = Number(config["s3.session-token-expires-at-ms"]);
  const left = (expires - Date.now()) / 1000;
  const least = validitySeconds / 2 - CLOCK_SKEW_SECONDS;
  if (!(left > 0 && left >= least && left <= validitySeconds + CLOCK_SKEW_SECONDS)) {
    const told = Number.isFinite(left) ? `in ${Math.round(left)} s` : "at no time that is told";
    throw new Error(`the session ends ${told}; the warehouse gives out sessions of ${validitySeconds} s`);
  }
  return Math.floor(left / 60);
}

/** The first bytes of a data file; all of them could be gigabytes. */
export async function checkDataFile({ s3, bucket, key }: Vended, table: LoadedTable): Promise<Seen<true>> {
  const folder = `${key}/data/`;
  const file = (await s3.list(bucket, folder, 10)).objects.find(({ size }) => size > 0);
  if (file === undefined) {
    const files = dataFilesOf(table);
    if (files === 0) throw new Skip("the table has no data file");
    throw new Error(`the table has ${files} data files, but none lies under s3://${bucket}/${folder}`);
  }
  const { length } = await s3.get(bucket, file.key, "bytes=0-3");
  return { seen: `${length} of ${file.size} bytes of s3://${bucket}/${file.key}`, found: true };
}

/** The number that the current snapshot's summary tells; 0 without a snapshot. */
function dataFilesOf({ metadata }: LoadedTable): number {
  const { "current-snapshot-id": current, snapshots } = metadata as {
    "current-snapshot-id"?: number | bigint | null;
    snapshots?: { "snapshot-id": number | bigint; summary?: Record<string, string> }[];
  };
  const snapshot = snapshots?.find(({ "snapshot-id": id }) => id === current);
  return Number(snapshot?.summary?.["total-data-files"] ?? 0);
}

/** Just beside the table: its parent, and a sibling whose name only begins like its own. */
export async function checkOutside({ s3, bucket, key }: Vended): Promise<Seen<true>> {
  const folders = [key.replace(/[^/]*$/, ""), `${key}-other/`];
  for (const folder of folders) {
    const probe = `${folder}probe-${randomUUID()}`;
    await refused(`GET s3://${bucket}/${probe}`, s3.get(bucket, probe));
    await refused(`LIST s3://${bucket}/${folder}`, s3.list(bucket, folder, 1));
  }
  return {
    seen: `403 for GET and LIST in ${folders.map((folder) => `s3://${bucket}/${folder}`).join(", ")}`,
    found: true,
  };
}

/** Any answer but 403 means that the request was let through, even if it then found nothing. */
async function refused(what: string, call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    if (error.status === 403) return;
    throw new Error(`${what} is outside the table and answers ${error.status}, not 403`, { cause: error });
  }
  throw new Error(`${what} is outside the table and succeeds`);
}

/** Writes and deletes an object where data and where metadata lie, and none beside the table. */
export async function checkWrites({ s3, bucket, key }: Vended): Promise<Seen<true>> {
  const name = `probe-${randomUUID()}`;
  for (const folder of ["data", "metadata"]) {
    const probe = `${key}/${folder}/${name}`;
    await s3.put(bucket, probe, "written by the verification of a Lakekeeper stack; may be deleted");
    await s3.delete(bucket, probe).catch((cause: Error) => {
      throw new Error(`s3://${bucket}/${probe} was written and is left behind: ${cause.message}`, { cause });
    });
  }
  const outside = `${key}-other/${name}`;
  try {
    await refused(`PUT s3://${bucket}/${outside}`, s3.put(bucket, outside, ""));
  } catch (error) {
    await s3.delete(bucket, outside).catch(() => {}); // the error to tell is that it could be written at all
    throw error;
  }
  return { seen: "wrote and deleted under data/ and metadata/; 403 for a PUT beside the table", found: true };
}
