import { createHash } from "node:crypto";
import { AwsV4Signer } from "aws4fetch";
import { XMLParser } from "fast-xml-parser";
import { parseLocation } from "./location.ts";

export interface S3Keys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export type IoKind = "NotFound" | "PermissionDenied" | "RateLimited" | "Unexpected";

/** A storage operation that failed. `message` is worded as the real server words it and names the location. */
export class IoError extends Error {
  readonly kind: IoKind;

  constructor(kind: IoKind, location: string, reason: string, options?: ErrorOptions) {
    super(`IO error at \`${location}\`: ${reason}`, options);
    this.kind = kind;
  }
}

interface Answer {
  readonly status: number;
  readonly body: Buffer;
}

const xml = new XMLParser({ isArray: (name) => name === "Contents", parseTagValue: false });
const signingKeys = new Map<string, ArrayBuffer>();

/** Signature V4 over any AWS-like endpoint; without keys the request goes out unsigned. */
export async function signedRequest(
  method: string,
  url: string,
  service: "s3" | "sts",
  region: string,
  keys: S3Keys | undefined,
  body: Buffer = Buffer.alloc(0),
  headers: Record<string, string> = {},
): Promise<Answer> {
  let all: Record<string, string> = { ...headers };
  if (keys !== undefined) {
    const digest = createHash("sha256").update(body).digest("hex");
    const signer = new AwsV4Signer({
      method,
      url,
      headers: { ...all, "x-amz-content-sha256": digest },
      ...(body.length > 0 ? { body } : {}),
      ...keys,
      service,
      region,
      cache: signingKeys,
    });
    all = Object.fromEntries((await signer.sign()).headers);
  }
  const answer = await fetch(url, {
    method,
    headers: all,
    ...(body.length > 0 || method === "PUT" ? { body } : {}),
  });
  return { status: answer.status, body: Buffer.from(await answer.arrayBuffer()) };
}

/** Code and message of an S3 or STS error document; both empty when there is none. */
export function errorDocument(body: Buffer): { code: string; message: string } {
  type ErrorDocument = { Code?: string; Message?: string };
  const parsed = xml.parse(body.toString()) as { Error?: ErrorDocument; ErrorResponse?: { Error?: ErrorDocument } };
  const error = parsed.Error ?? parsed.ErrorResponse?.Error;
  return { code: error?.Code ?? "", message: error?.Message ?? "" };
}

function encodeKey(key: string): string {
  return key
    .split("/")
    .map((step) =>
      encodeURIComponent(step).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`),
    )
    .join("/");
}

/** The few S3 operations the catalog needs, addressed by `s3://` locations, path style. */
export class S3Client {
  private readonly endpoint: string;
  private readonly region: string;
  private readonly keys: S3Keys | undefined;

  constructor(endpoint: string | null, region: string, keys: S3Keys | undefined) {
    this.endpoint = (endpoint ?? `https://s3.${region}.amazonaws.com/`).replace(/\/$/, "");
    this.region = region;
    this.keys = keys;
  }

  private async call(method: string, location: string, operation: string, body?: Buffer, query = ""): Promise<Answer> {
    const { bucket, key } = parseLocation(location);
    const url = `${this.endpoint}/${bucket}/${method === "LIST" ? "" : encodeKey(key)}${query}`;
    let answer: Answer;
    try {
      answer = await signedRequest(method === "LIST" ? "GET" : method, url, "s3", this.region, this.keys, body);
    } catch (error) {
      throw new IoError("Unexpected", location, `Unknown S3 error during ${operation}: unhandled error`, {
        cause: error,
      });
    }
    if (answer.status < 300) return answer;
    // A HEAD has no error document: only the absence of the object can be told.
    if (method === "HEAD")
      throw answer.status === 404
        ? new IoError("NotFound", location, "Unknown S3 error during head operation: NotFound")
        : new IoError("Unexpected", location, "Unknown S3 error during head operation: unhandled error");
    const { code, message } = errorDocument(answer.body);
    const kind =
      answer.status === 404
        ? "NotFound"
        : answer.status === 403
          ? "PermissionDenied"
          : answer.status === 429 || answer.status === 503
            ? "RateLimited"
            : "Unexpected";
    throw new IoError(kind, location, `S3 ${operation} failed: ${message === "" ? code : message}`);
  }

  async write(location: string, body: Buffer): Promise<void> {
    await this.call("PUT", location, "write", body);
  }

  async head(location: string): Promise<void> {
    await this.call("HEAD", location, "head operation");
  }

  async read(location: string): Promise<Buffer> {
    return (await this.call("GET", location, "read")).body;
  }

  async delete(location: string): Promise<void> {
    await this.call("DELETE", location, "delete");
  }

  /** Locations of at most `limit` objects below `location`, in the order the storage gives them. */
  async list(location: string, limit = 1000): Promise<string[]> {
    const { bucket, key } = parseLocation(location);
    const query = `?list-type=2&max-keys=${limit}&prefix=${encodeURIComponent(`${key}/`)}`;
    const answer = await this.call("LIST", location, "list", undefined, query);
    const parsed = xml.parse(answer.body.toString()) as { ListBucketResult?: { Contents?: { Key: string }[] } | "" };
    const result = parsed.ListBucketResult;
    return (result === "" ? [] : (result?.Contents ?? [])).map((entry) => `s3://${bucket}/${entry.Key}`);
  }

  /** Deletes everything below `location`. */
  async deleteAll(location: string): Promise<void> {
    for (;;) {
      const found = await this.list(location);
      if (found.length === 0) return;
      await Promise.all(found.map((object) => this.delete(object)));
    }
  }
}
