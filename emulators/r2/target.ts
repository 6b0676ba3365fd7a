import { S3Error } from "./errors.ts";

/** What a path-style URL points at: the account, a bucket, or an object. */
export interface Target {
  /** Percent-decoded. */
  path: string;
  bucket: string | undefined;
  key: string | undefined;
  query: URLSearchParams;
}

/** @throws S3Error InvalidArgument for a path that is no percent-encoded UTF-8, InvalidObjectName for a key too long */
export function parseTarget(url: string): Target {
  const questionMark = url.indexOf("?");
  const rawPath = questionMark === -1 ? url : url.slice(0, questionMark);
  const query = new URLSearchParams(questionMark === -1 ? "" : url.slice(questionMark + 1));
  const path = decode(rawPath);
  const slash = path.indexOf("/", 1);
  const bucket = slash === -1 ? path.slice(1) : path.slice(1, slash);
  const key = slash === -1 ? "" : path.slice(slash + 1);
  if (Buffer.byteLength(key) > 1024) throw new S3Error("InvalidObjectName");
  return { path, bucket: bucket === "" ? undefined : bucket, key: key === "" ? undefined : key, query };
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw new S3Error("InvalidArgument", "The request path is not percent-encoded UTF-8.");
  }
}
