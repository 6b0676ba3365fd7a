import { setTimeout as delay } from "node:timers/promises";
import { IcebergCatalog, type TableIdentifier } from "../clients/iceberg.ts";
import { withCatalog } from "../clients/lakekeeper.ts";
import { parseLocation, S3Client } from "../clients/s3.ts";
import type { Identity } from "../clients/token.ts";
import { accessOf } from "../providers/verification/vending.ts";

export interface ReadersOptions {
  /** Of the catalog, without a path. */
  readonly uri: string;
  readonly identity: Identity;
  readonly warehouseId: string;
  readonly table: TableIdentifier;
}

export interface Readers {
  /** Ends them, and says how it went. */
  stop(): Promise<{ reads: number; failures: string[] }>;
}

/** A set of credentials is used by its reader until shortly before it expires, as clients do. */
const LEEWAY_MS = 2_000;
const PAUSE_MS = 20;
const READERS = 4;

/**
 * Clients that read one table over and over: each asks for vended credentials,
 * reads the table's metadata file with them for as long as they live, and asks again.
 */
export function startReaders({ uri, identity, warehouseId, table }: ReadersOptions): Readers {
  let [reads, isOver] = [0, false];
  const failures: string[] = [];

  async function read(): Promise<void> {
    await withCatalog({ uri, identity }, async (http) => {
      const catalog = new IcebergCatalog(http, warehouseId);
      while (!isOver) {
        try {
          const loaded = await catalog.loadTable(table, "vended-credentials");
          reads += 1;
          const config = loaded?.config ?? {};
          const { bucket, key } = parseLocation(loaded?.["metadata-location"] ?? "");
          const bucketOf = new S3Client(accessOf(config));
          const expires = Number(config["s3.session-token-expires-at-ms"]) - LEEWAY_MS;
          do {
            await bucketOf.get(bucket, key);
            reads += 1;
            await delay(PAUSE_MS);
          } while (!isOver && Date.now() < expires);
        } catch (error) {
          failures.push(error instanceof Error ? error.message : String(error));
          await delay(PAUSE_MS);
        }
      }
    });
  }

  const readers = Array.from({ length: READERS }, read);
  return {
    async stop() {
      isOver = true;
      await Promise.all(readers);
      return { reads, failures };
    },
  };
}
