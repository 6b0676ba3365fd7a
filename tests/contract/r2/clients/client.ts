import type { Keys } from "../support.ts";

/** What the table asks of every client of S3. Keys of objects may have slashes; contents are text. */
export interface S3Operations {
  put(key: string, content: string): Promise<void>;
  get(key: string, bucket?: string): Promise<string>;
  /** The bytes `first` to `last`, both inclusive. */
  range(key: string, first: number, last: number): Promise<string>;
  /** The size, without reading the content. */
  size(key: string): Promise<number>;
  /** Every key below a prefix that ends with a slash, without the prefix, in order. */
  list(prefix: string): Promise<string[]>;
  /** The same for one level: a folder is there once, with its slash. */
  level(prefix: string): Promise<string[]>;
  delete(key: string): Promise<void>;
  copy(from: string, to: string): Promise<void>;
  /** Writes so many MiB in parts. */
  upload(key: string, mebibytes: number): Promise<void>;
  /** Writes unless there is such an object. */
  create(key: string, content: string): Promise<void>;
  /** Reads unless the object is still the one of this ETag. */
  getUnless(key: string, etag: string): Promise<string>;
}

export type Operation = keyof S3Operations;

export type ClientName = "AWS SDK v3" | "aws4fetch" | "PyArrow" | "s3fs" | "DuckDB";

/** A client as the table runs it. A refusal reaches the test as an error in the client's own words. */
export interface Client {
  with(keys: Keys): S3Operations;
}
