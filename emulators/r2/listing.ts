import type { DatabaseSync } from "node:sqlite";

export interface ListingRequest {
  prefix: string;
  /** Keys that share what comes before its first occurrence after the prefix are rolled up into one common prefix. */
  delimiter: string | undefined;
  /** The smallest key that may be listed. */
  from: string;
  /** At most so many keys and common prefixes together. */
  limit: number;
}

export interface Listing {
  entries: ListingEntry[];
  /** `from` of the request that continues this one, when there is more. */
  next: string | undefined;
}

export type ListingEntry =
  { prefix: string } | { key: string; size: number; etag: string; modified: number; checksum: string | null };

/** One page of a bucket's keys, in the order of their UTF-8 bytes. A rolled-up prefix costs one seek, however full. */
export function listKeys(database: DatabaseSync, bucket: string, request: ListingRequest): Listing {
  const { prefix, delimiter, limit } = request;
  const rows = database.prepare(
    "SELECT key, size, etag, modified, checksum FROM objects WHERE bucket = ? AND key >= max(?, ?) AND key < ? ORDER BY key LIMIT ?",
  );
  // To SQLite every text is smaller than any bytes, so empty bytes stand for "no upper bound".
  const end = successor(prefix) ?? new Uint8Array();
  let from = request.from;
  const entries: ListingEntry[] = [];

  const page = (): boolean => {
    for (const row of rows.iterate(bucket, prefix, from, end, limit - entries.length)) {
      const object = row as unknown as Exclude<ListingEntry, { prefix: string }>;
      const at = delimiter === undefined ? -1 : object.key.indexOf(delimiter, prefix.length);
      if (at === -1) {
        entries.push(object);
        from = after(object.key);
      } else {
        const common = object.key.slice(0, at + delimiter!.length);
        entries.push({ prefix: common });
        const next = successor(common);
        if (next === undefined) return false;
        from = next;
        return true;
      }
    }
    return false;
  };
  while (entries.length < limit && page());

  const hasMore = limit > 0 && rows.get(bucket, prefix, from, end, 1) !== undefined;
  return { entries, next: hasMore ? from : undefined };
}

/** The smallest key greater than `key`. */
export function after(key: string): string {
  return `${key}\0`;
}

/** The smallest text greater than every text that begins with `prefix`; undefined when there is none. */
export function successor(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0)!);
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    // Surrogates are no characters: UTF-8 goes from U+D7FF straight to U+E000.
    if (last < 0x10ffff) return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
  }
  return undefined;
}
