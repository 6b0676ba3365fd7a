import { XMLParser } from "fast-xml-parser";
import { type HttpAnswer, send } from "./http.ts";
import { parseLocation } from "./location.ts";
import { encodeStrictly, type S3Keys, signatureHeaders } from "./signature.ts";

export type IoKind = "NotFound" | "PermissionDenied" | "RateLimited" | "Unexpected";

/** A storage operation that failed. `message` is worded as the real server words it and names the location. */
export class IoError extends Error {
  readonly kind: IoKind;

  constructor(kind: IoKind, location: string, reason: string, options?: ErrorOptions) {
    super(`IO error at \`${location}\`: ${reason}`, options);
    this.kind = kind;
  }
}

const xml = new XMLParser({ isArray: (name) => name === "Contents", parseTagValue: false });

/** Code and message of an S3 or STS error document; both empty when there is none. */
export function errorDocument(body: Buffer): { code: string; message: string } {
  type ErrorDocument = { Code?: string; Message?: string };
  const parsed = xml.parse(body.toString()) as { Error?: ErrorDocument; ErrorResponse?: { Error?: ErrorDocument } };
  const error = parsed.Error ?? parsed.ErrorResponse?.Error;
  return { code: error?.Code ?? "", message: error?.Message ?? "" };
}

function encodeKey(key: string): string {
  return key.split("/").map(encodeStrictly).join("/");
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

  private async call(
    method: string,
    location: string,
    operation: string,
    body?: Buffer,
    query = "",
  ): Promise<HttpAnswer> {
    const { bucket, key } = parseLocation(location);
    const url = `${this.endpoint}/${bucket}/${method === "LIST" ? "" : encodeKey(key)}${query}`;
    const verb = method === "LIST" ? "GET" : method;
    const request = {
      method: verb,
      url,
      service: "s3",
      region: this.region,
      body: body ?? "",
      now: new Date(),
    } as const;
    let answer: HttpAnswer;
    try {
      answer = await send(verb, url, this.keys === undefined ? {} : signatureHeaders(request, this.keys), body);
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
