import { S3Error } from "./errors.ts";

/** The bytes that a `Range` header asks for, both ends inclusive. */
export interface ByteRange {
  start: number;
  end: number;
  isPartial: boolean;
}

/**
 * Understands `bytes=a-b`, `bytes=a-` and `bytes=-n`. Anything else means the whole, as HTTP prescribes.
 *
 * @throws S3Error InvalidRange when nothing of it lies within the object
 */
export function parseRange(header: string | undefined, size: number): ByteRange {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? "");
  const [, first = "", last = ""] = match ?? [];
  const whole = { start: 0, end: size - 1, isPartial: false };
  if (first === "" && last === "") return whole;
  const start = first === "" ? Math.max(size - Number(last), 0) : Number(first);
  const end = first === "" || last === "" ? size - 1 : Math.min(Number(last), size - 1);
  if (first !== "" && last !== "" && Number(last) < Number(first)) return whole;
  if (start >= size || start > end)
    throw new S3Error("InvalidRange", undefined, { "content-range": `bytes */${size}` });
  return { start, end, isPartial: true };
}
