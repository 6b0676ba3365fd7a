import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { Blobs, type Blob, type Content } from "./blobs.ts";
import type { ChecksumAlgorithm } from "./checksums.ts";
import { openDatabase, prepared, transaction } from "./database.ts";
import { S3Error } from "./errors.ts";
import { listKeys, type Listing, type ListingRequest } from "./listing.ts";

/** What is remembered of an object besides its bytes. */
export interface StoredObject {
  key: string;
  size: number;
  /** Without quotes. */
  etag: string;
  /** Milliseconds since 1970. */
  modified: number;
  /** Content-Type and its like, and `x-amz-meta-*`; names in lower case. */
  headers: Record<string, string>;
  checksum?: ObjectChecksum | undefined;
  blobs: Blob[];
}

export interface ObjectChecksum {
  algorithm: ChecksumAlgorithm;
  value: string;
}

/** What Cloudflare's API shows of a bucket, and S3 does not. Those made through S3 have none of it. */
export interface BucketSettings {
  /** In capital letters, e.g. `WEUR`. */
  location?: string;
  /** The class of new objects. */
  storageClass?: string;
  /** Rules, as they were given. */
  lifecycle?: unknown[];
  lock?: unknown[];
}

export interface Bucket {
  name: string;
  /** Milliseconds since 1970. */
  created: number;
}

/** Buckets and objects: an index in SQLite, the bytes in files beside it. */
export class Store {
  readonly database: DatabaseSync;
  readonly blobs: Blobs;

  private constructor(directory: string) {
    mkdirSync(directory, { recursive: true });
    this.database = openDatabase(join(directory, "index.sqlite"));
    this.blobs = new Blobs(join(directory, "blobs"));
  }

  /** Opens the store in a folder, made when absent, and clears away what a killed process left half written. */
  static async open(directory: string): Promise<Store> {
    const store = new Store(directory);
    const ids = new Set(
      store.database
        .prepare(
          `SELECT blob AS id FROM parts
           UNION ALL SELECT blob.value ->> 'id' FROM objects, json_each(objects.blobs) AS blob`,
        )
        .all()
        .map((row) => row["id"]),
    );
    await store.blobs.sweep((id) => ids.has(id));
    return store;
  }

  close(): void {
    this.database.close();
  }

  listBuckets(): Bucket[] {
    return this.database.prepare("SELECT name, created FROM buckets ORDER BY name").all() as unknown as Bucket[];
  }

  hasBucket(name: string): boolean {
    return prepared(this.database, "SELECT 1 FROM buckets WHERE name = ?").get(name) !== undefined;
  }

  /** @throws S3Error NoSuchBucket */
  requireBucket(name: string): void {
    if (!this.hasBucket(name)) throw new S3Error("NoSuchBucket");
  }

  /** Returns false when the bucket was there already. */
  createBucket(name: string, now: number): boolean {
    const { changes } = this.database
      .prepare("INSERT INTO buckets (name, created) VALUES (?, ?) ON CONFLICT DO NOTHING")
      .run(name, now);
    return changes === 1;
  }

  /** @throws S3Error BucketNotEmpty */
  deleteBucket(name: string): void {
    transaction(this.database, () => {
      const object = this.database.prepare("SELECT 1 FROM objects WHERE bucket = ? LIMIT 1").get(name);
      if (object !== undefined) throw new S3Error("BucketNotEmpty");
      this.database.prepare("DELETE FROM buckets WHERE name = ?").run(name);
    });
  }

  bucketSettings(name: string): BucketSettings {
    const row = this.database.prepare("SELECT settings FROM bucket_settings WHERE bucket = ?").get(name);
    return row === undefined ? {} : (JSON.parse(String(row["settings"])) as BucketSettings);
  }

  setBucketSettings(name: string, settings: BucketSettings): void {
    this.database.prepare("INSERT OR REPLACE INTO bucket_settings VALUES (?, ?)").run(name, JSON.stringify(settings));
  }

  find(bucket: string, key: string): StoredObject | undefined {
    const row = prepared(this.database, "SELECT * FROM objects WHERE bucket = ? AND key = ?").get(bucket, key);
    return row && toObject(row as unknown as ObjectRow);
  }

  /** @throws S3Error NoSuchKey */
  get(bucket: string, key: string): StoredObject {
    const object = this.find(bucket, key);
    if (object === undefined) throw new S3Error("NoSuchKey");
    return object;
  }

  /**
   * An object with its content, or the part of it that `select` chooses once it has seen the object.
   *
   * @throws S3Error NoSuchKey, and whatever `select` throws
   */
  async read<T extends { start: number; end: number }>(
    bucket: string,
    key: string,
    select: (object: StoredObject) => T,
  ): Promise<{ object: StoredObject; range: T; content: Content }> {
    for (;;) {
      const object = this.get(bucket, key);
      const range = select(object);
      try {
        return { object, range, content: await this.blobs.read(object.blobs, range.start, range.end) };
      } catch (error) {
        // Overwritten between the look-up and the opening of its file: look up what is there now.
        const isGone = (error as NodeJS.ErrnoException).code === "ENOENT";
        const isSame = this.find(bucket, key)?.blobs[0]?.id === object.blobs[0]?.id;
        if (!isGone || isSame) throw error;
      }
    }
  }

  /**
   * Makes `object` the content of its key in one step, if the bucket is still there and `allowed` does not throw for
   * the object that it replaces. The new blobs are deleted when it fails, the old ones when it succeeds.
   */
  async put(
    bucket: string,
    object: StoredObject,
    allowed: (existing: StoredObject | undefined) => void,
  ): Promise<void> {
    let replaced: StoredObject | undefined;
    try {
      transaction(this.database, () => {
        this.requireBucket(bucket);
        replaced = this.find(bucket, object.key);
        allowed(replaced);
        this.insert(bucket, object);
      });
    } catch (error) {
      await this.blobs.remove(object.blobs);
      throw error;
    }
    await this.blobs.remove(replaced?.blobs ?? []);
  }

  /** Writes the row of an object, over the one of the same key. */
  insert(bucket: string, object: StoredObject): void {
    prepared(this.database, "INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?, ?, ?, ?, ?)").run(
      bucket,
      object.key,
      object.size,
      object.etag,
      object.modified,
      JSON.stringify(object.headers),
      object.checksum === undefined ? null : JSON.stringify(object.checksum),
      JSON.stringify(object.blobs),
    );
  }

  /** Deleting what is not there is a success, as in S3. */
  async delete(bucket: string, key: string): Promise<void> {
    const row = this.database.prepare("DELETE FROM objects WHERE bucket = ? AND key = ? RETURNING *").get(bucket, key);
    if (row !== undefined) await this.blobs.remove(toObject(row as unknown as ObjectRow).blobs);
  }

  list(bucket: string, request: ListingRequest): Listing {
    return listKeys(this.database, bucket, request);
  }
}

interface ObjectRow {
  key: string;
  size: number;
  etag: string;
  modified: number;
  headers: string;
  checksum: string | null;
  blobs: string;
}

function toObject(row: ObjectRow): StoredObject {
  return {
    key: row.key,
    size: row.size,
    etag: row.etag,
    modified: row.modified,
    headers: JSON.parse(row.headers) as Record<string, string>,
    checksum: row.checksum === null ? undefined : (JSON.parse(row.checksum) as ObjectChecksum),
    blobs: JSON.parse(row.blobs) as Blob[],
  };
}
