import { createHash, randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { S3Client } from "../../clients/s3.ts";
import type { Connection } from "../../clients/token.ts";
import { startLakekeeper, type RunningServer } from "../../emulators/lakekeeper/server.ts";
import { startR2, type R2 } from "../../emulators/r2/server.ts";
import type { StorageCredential } from "../../providers/warehouse.profile.ts";
import { startTestPostgres, type TestPostgres } from "./postgres.ts";
import { Proxy } from "./proxy.ts";

const ACCOUNT = "a".repeat(32);
export const TOKEN = { id: "0".repeat(32), value: "value-of-the-first-token", permission: "admin-read-write" } as const;

type R2Credential = Extract<StorageCredential, { type: "cloudflare-r2" }>;

/** What Lakekeeper is given for an API token of the account. */
export function r2Credential(token: { id: string; value: string } = TOKEN): R2Credential {
  return {
    type: "cloudflare-r2",
    accountId: ACCOUNT,
    accessKeyId: token.id,
    secretAccessKey: createHash("sha256").update(token.value).digest("hex"),
    token: token.value,
  };
}

/** The stand-in on a Postgres of its own and the R2 emulator, reached through a proxy that can go wrong. */
export class TestCatalog {
  readonly proxy: Proxy;
  readonly r2: R2;
  readonly bucket: S3Client;
  readonly connection: Connection;
  readonly #lakekeeper: RunningServer;
  readonly #postgres: TestPostgres;
  readonly #directory: string;

  private constructor(parts: {
    proxy: Proxy;
    r2: R2;
    lakekeeper: RunningServer;
    postgres: TestPostgres;
    directory: string;
  }) {
    this.proxy = parts.proxy;
    this.r2 = parts.r2;
    this.#lakekeeper = parts.lakekeeper;
    this.#postgres = parts.postgres;
    this.#directory = parts.directory;
    this.connection = { uri: this.proxy.uri, identity: { kind: "none" } };
    const { accessKeyId, secretAccessKey } = r2Credential();
    this.bucket = new S3Client({ endpoint: this.r2.url, region: "auto", accessKeyId, secretAccessKey });
  }

  /** @param settings further settings of the server, by their environment variables */
  static async start(settings: Record<string, string> = {}): Promise<TestCatalog> {
    const directory = await mkdtemp(join(tmpdir(), "test-catalog-"));
    const [postgres, r2] = await Promise.all([
      startTestPostgres(),
      startR2({ directory, accountId: ACCOUNT, tokens: [TOKEN], buckets: ["lakehouse", "elsewhere"] }),
    ]);
    const lakekeeper = await startLakekeeper({
      LAKEKEEPER__PG_DATABASE_URL_WRITE: await postgres.createDatabase("catalog"),
      LAKEKEEPER__PG_ENCRYPTION_KEY: "encryption-key-of-the-test",
      LAKEKEEPER__TASK_POLL_INTERVAL: "1",
      LAKEKEEPER_STANDIN__CLOUDFLARE_API: `${r2.url}/client/v4`,
      LAKEKEEPER_STANDIN__STATE_CACHE_SECONDS: "2",
      ...settings,
    });
    return new TestCatalog({ proxy: await new Proxy(lakekeeper.url).start(), r2, lakekeeper, postgres, directory });
  }

  async stop(): Promise<void> {
    await this.proxy.stop();
    await this.#lakekeeper.close();
    await this.r2.close();
    await this.#postgres.stop();
    await rm(this.#directory, { recursive: true });
  }
}

export interface MetadataOptions {
  /** Dotted, as in `main.default.t1`; decides where the file lies. */
  readonly table: string;
  readonly version: number;
  readonly uuid?: string;
  /** Earlier versions of the table. */
  readonly after?: readonly WrittenMetadata[];
  readonly location?: string;
  readonly properties?: Record<string, string>;
}

export interface WrittenMetadata {
  readonly pointer: string;
  readonly uuid: string;
  readonly updated: number;
}

/** Writes a metadata file into the bucket, as a writer of an SqlCatalog would. */
export async function writeMetadata(bucket: S3Client, options: MetadataOptions): Promise<WrittenMetadata> {
  const { table, version, after = [], properties = {} } = options;
  const folder = `warehouse/${table.split(".").slice(0, -1).join(".")}/${table.split(".").at(-1)}`;
  const uuid = options.uuid ?? after.at(-1)?.uuid ?? randomUUID();
  const key = `${folder}/metadata/${String(version).padStart(5, "0")}-${randomUUID()}.metadata.json`;
  const updated = 1_796_000_000_000 + version * 60_000;
  const metadata = {
    "format-version": 2,
    "table-uuid": uuid,
    location: options.location ?? `s3://lakehouse/${folder}`,
    "last-sequence-number": version,
    "last-updated-ms": updated,
    "last-column-id": 1,
    "current-schema-id": 0,
    schemas: [{ type: "struct", "schema-id": 0, fields: [{ id: 1, name: "id", required: false, type: "long" }] }],
    "default-spec-id": 0,
    "partition-specs": [{ "spec-id": 0, fields: [] }],
    "last-partition-id": 999,
    "default-sort-order-id": 0,
    "sort-orders": [{ "order-id": 0, fields: [] }],
    properties,
    "current-snapshot-id": null,
    snapshots: [],
    "snapshot-log": [],
    "metadata-log": after.map(({ pointer, updated: time }) => ({ "metadata-file": pointer, "timestamp-ms": time })),
  };
  await bucket.put("lakehouse", key, JSON.stringify(metadata));
  return { pointer: `s3://lakehouse/${key}`, uuid, updated };
}
