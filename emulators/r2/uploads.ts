import { createHash, randomBytes } from "node:crypto";
import type { Blob } from "./blobs.ts";
import { checksumAlgorithms, createChecksum, type ChecksumAlgorithm } from "./checksums.ts";
import { transaction } from "./database.ts";
import { S3Error } from "./errors.ts";
import type { ObjectChecksum, Store, StoredObject } from "./store.ts";

/** A multipart upload that is neither completed nor aborted. */
export interface Upload {
  id: string;
  bucket: string;
  key: string;
  /** Milliseconds since 1970. */
  created: number;
  /** Become the object's. */
  headers: Record<string, string>;
  algorithm: ChecksumAlgorithm | undefined;
}

export interface Part {
  number: number;
  size: number;
  /** The MD5 in hex, without quotes. */
  etag: string;
  modified: number;
  checksum: ObjectChecksum | undefined;
  blob: string;
}

/** A part as the client names it when it completes the upload. */
export interface PartReference {
  number: number;
  etag: string;
  checksums: Partial<Record<ChecksumAlgorithm, string>>;
}

/** R2 asks for parts of at least 5 MiB, all of one size; only the last may be smaller. */
const minimumPartSize = 5 * 1024 * 1024;

export class Uploads {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  create(upload: Omit<Upload, "id">): Upload {
    const id = randomBytes(32).toString("base64url");
    this.#store.database
      .prepare("INSERT INTO uploads VALUES (?, ?, ?, ?, ?, ?)")
      .run(id, upload.bucket, upload.key, upload.created, JSON.stringify(upload.headers), upload.algorithm ?? null);
    return { id, ...upload };
  }

  /** @throws S3Error NoSuchUpload, also when it is for another object */
  get(bucket: string, key: string, id: string): Upload {
    const row = this.#store.database
      .prepare("SELECT * FROM uploads WHERE id = ? AND bucket = ? AND key = ?")
      .get(id, bucket, key);
    if (row === undefined) throw new S3Error("NoSuchUpload");
    return toUpload(row);
  }

  /** Those whose key begins with `prefix`, by key and then by time. */
  list(bucket: string, prefix: string): Upload[] {
    return this.#store.database
      .prepare("SELECT * FROM uploads WHERE bucket = ? ORDER BY key, created, id")
      .all(bucket)
      .map(toUpload)
      .filter(({ key }) => key.startsWith(prefix));
  }

  parts(id: string): Part[] {
    return this.#store.database.prepare("SELECT * FROM parts WHERE upload = ? ORDER BY number").all(id).map(toPart);
  }

  /** Stores a part, in place of an earlier one of its number. */
  async putPart(upload: Upload, part: Part): Promise<void> {
    let replaced: Part | undefined;
    try {
      transaction(this.#store.database, () => {
        this.get(upload.bucket, upload.key, upload.id);
        replaced = this.parts(upload.id).find(({ number }) => number === part.number);
        this.#store.database
          .prepare("INSERT OR REPLACE INTO parts VALUES (?, ?, ?, ?, ?, ?, ?)")
          .run(
            upload.id,
            part.number,
            part.size,
            part.etag,
            part.modified,
            part.checksum === undefined ? null : JSON.stringify(part.checksum),
            part.blob,
          );
      });
    } catch (error) {
      await this.#store.blobs.remove([toBlob(part)]);
      throw error;
    }
    if (replaced !== undefined) await this.#store.blobs.remove([toBlob(replaced)]);
  }

  async abort(upload: Upload): Promise<void> {
    const parts = this.parts(upload.id);
    this.#delete(upload);
    await this.#store.blobs.remove(parts.map(toBlob));
  }

  /**
   * Makes an object of the named parts in one step. Parts that are not named are dropped.
   *
   * @param allowed may throw for the object that is replaced, or for the one that has come about
   * @throws S3Error InvalidPart, InvalidPartOrder, EntityTooSmall, NoSuchUpload, and whatever `allowed` throws
   */
  async complete(
    upload: Upload,
    references: PartReference[],
    now: number,
    allowed: (existing: StoredObject | undefined, completed: StoredObject) => void,
  ): Promise<StoredObject> {
    const { bucket, key } = upload;
    let replaced: StoredObject | undefined;
    let dropped: Part[] = [];
    const object = transaction(this.#store.database, () => {
      this.get(bucket, key, upload.id);
      const stored = this.parts(upload.id);
      const parts = choose(stored, references);
      dropped = stored.filter((part) => !parts.includes(part));
      const object: StoredObject = {
        key,
        size: parts.reduce((sum, { size }) => sum + size, 0),
        etag: `${md5(parts.map(({ etag }) => Buffer.from(etag, "hex")))}-${parts.length}`,
        modified: now,
        headers: upload.headers,
        checksum: compositeChecksum(upload, parts),
        blobs: parts.map(toBlob),
      };
      replaced = this.#store.find(bucket, key);
      allowed(replaced, object);
      this.#store.insert(bucket, object);
      this.#delete(upload);
      return object;
    });
    await this.#store.blobs.remove([...dropped.map(toBlob), ...(replaced?.blobs ?? [])]);
    return object;
  }

  #delete(upload: Upload): void {
    this.#store.database.prepare("DELETE FROM uploads WHERE id = ?").run(upload.id);
  }
}

function choose(stored: Part[], references: PartReference[]): Part[] {
  const parts = references.map((reference) => {
    const part = stored.find(({ number }) => number === reference.number);
    if (part === undefined || part.etag !== reference.etag) throw new S3Error("InvalidPart");
    for (const [algorithm, value] of Object.entries(reference.checksums)) {
      if (part.checksum?.algorithm !== algorithm || part.checksum.value !== value) throw new S3Error("InvalidPart");
    }
    return part;
  });
  if (parts.some((part, index) => index > 0 && part.number <= parts[index - 1]!.number)) {
    throw new S3Error("InvalidPartOrder");
  }
  const leading = parts.slice(0, -1);
  if (leading.some(({ size }) => size < minimumPartSize)) throw new S3Error("EntityTooSmall");
  const [first] = leading;
  if (first !== undefined && (leading.some(({ size }) => size !== first.size) || parts.at(-1)!.size > first.size)) {
    throw new S3Error("InvalidPart", "All non-trailing parts must have the same length.");
  }
  return parts;
}

/** The checksum of the parts' checksums, followed by their number: what S3 calls a composite one. */
function compositeChecksum({ algorithm }: Upload, parts: Part[]): ObjectChecksum | undefined {
  if (algorithm === undefined || parts.some(({ checksum }) => checksum?.algorithm !== algorithm)) return undefined;
  const composite = createChecksum(algorithm);
  for (const { checksum } of parts) composite.update(Buffer.from(checksum!.value, "base64"));
  return { algorithm, value: `${composite.digest()}-${parts.length}` };
}

function md5(pieces: Buffer[]): string {
  const hash = createHash("md5");
  for (const piece of pieces) hash.update(piece);
  return hash.digest("hex");
}

function toBlob({ blob, size }: Part): Blob {
  return { id: blob, size };
}

function toUpload(row: Record<string, unknown>): Upload {
  const { id, bucket, key, created, headers, algorithm } = row as {
    [name in keyof Upload]: string;
  };
  return {
    id,
    bucket,
    key,
    created: Number(created),
    headers: JSON.parse(headers) as Record<string, string>,
    algorithm: checksumAlgorithms.find((name) => name === algorithm),
  };
}

function toPart(row: Record<string, unknown>): Part {
  const { number, size, etag, modified, checksum, blob } = row as Omit<Part, "checksum"> & { checksum: string | null };
  return {
    number,
    size,
    etag,
    modified,
    checksum: checksum === null ? undefined : (JSON.parse(checksum) as ObjectChecksum),
    blob,
  };
}
