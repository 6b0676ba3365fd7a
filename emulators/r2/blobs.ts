import { randomUUID } from "node:crypto";
import { closeSync, createReadStream, createWriteStream, openSync, readSync } from "node:fs";
import { constants, copyFile, mkdir, open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** One immutable run of bytes on disk. An object is one of them, or several that were uploaded as parts. */
export interface Blob {
  id: string;
  size: number;
}

/** Bytes to send: in hand already when they are few. */
export type Content = Buffer[] | AsyncIterable<Buffer>;

/** Reading this much takes less time than handing the work to another thread. */
const few = 64 * 1024;

/**
 * Files full of bytes, named by chance. A blob means nothing until a row of the index names it, so a process killed
 * while it writes leaves no half object: only a file that the next start sweeps away.
 */
export class Blobs {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Writes a stream to disk as it arrives. Nothing stays when the stream fails. */
  async write(content: AsyncIterable<Buffer>): Promise<Blob> {
    const blob = { id: randomUUID(), size: 0 };
    const file = createWriteStream(await this.#prepare(blob.id));
    try {
      await pipeline(content, file);
    } catch (error) {
      await this.remove([blob]);
      throw error;
    }
    blob.size = file.bytesWritten;
    return blob;
  }

  async copy(blob: Blob): Promise<Blob> {
    const copy = { id: randomUUID(), size: blob.size };
    await copyFile(this.#path(blob.id), await this.#prepare(copy.id), constants.COPYFILE_FICLONE);
    return copy;
  }

  /**
   * The bytes `start` to `end` (inclusive) of blobs laid end to end. All files are open before the first byte is given,
   * so a reader is not disturbed by the object being overwritten or deleted meanwhile.
   */
  async read(blobs: Blob[], start: number, end: number): Promise<Content> {
    let offset = 0;
    const slices: Slice[] = [];
    for (const { id, size } of blobs) {
      const slice = {
        path: this.#path(id),
        first: Math.max(start - offset, 0),
        last: Math.min(end - offset, size - 1),
      };
      if (slice.first <= slice.last) slices.push(slice);
      offset += size;
    }
    return end - start < few ? slices.map(readSlice) : concatenate(await openSlices(slices));
  }

  async remove(blobs: Blob[]): Promise<void> {
    for (const blob of blobs) await rm(this.#path(blob.id), { force: true });
  }

  /** Deletes every blob that `isUsed` does not know. */
  async sweep(isUsed: (id: string) => boolean): Promise<void> {
    await mkdir(this.#directory, { recursive: true });
    const files = await readdir(this.#directory, { recursive: true, withFileTypes: true });
    for (const file of files) {
      if (file.isFile() && !isUsed(file.name)) await rm(join(file.parentPath, file.name));
    }
  }

  #path(id: string): string {
    return join(this.#directory, id.slice(0, 2), id);
  }

  async #prepare(id: string): Promise<string> {
    await mkdir(join(this.#directory, id.slice(0, 2)), { recursive: true });
    return this.#path(id);
  }
}

/** The bytes `first` to `last` of a file. */
interface Slice {
  path: string;
  first: number;
  last: number;
}

function readSlice({ path, first, last }: Slice): Buffer {
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.allocUnsafe(last - first + 1);
    readSync(file, bytes, 0, bytes.length, first);
    return bytes;
  } finally {
    closeSync(file);
  }
}

async function openSlices(slices: Slice[]): Promise<Readable[]> {
  const streams: Readable[] = [];
  try {
    for (const { path, first, last } of slices) {
      const handle = await open(path);
      streams.push(createReadStream("", { fd: handle, start: first, end: last }));
    }
  } catch (error) {
    for (const stream of streams) stream.destroy();
    throw error;
  }
  return streams;
}

async function* concatenate(slices: Readable[]): AsyncGenerator<Buffer> {
  try {
    for (const slice of slices) for await (const chunk of slice) yield chunk as Buffer;
  } finally {
    for (const slice of slices) slice.destroy();
  }
}
