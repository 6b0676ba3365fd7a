import { createHash } from "node:crypto";
import { AwsV4Signer } from "aws4fetch";
import { XMLParser } from "fast-xml-parser";
import { request, type Dispatcher } from "undici";

export interface S3Access {
  /** Base URL of the S3 API. */
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of temporary credentials. */
  readonly sessionToken?: string;
  /** Bucket in the path (true) or in the host name (false). @default true */
  readonly pathStyle?: boolean;
}

export interface S3Object {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
}

export interface S3Listing {
  readonly objects: S3Object[];
  /** Hand it back to read on; absent at the end. */
  readonly continuationToken?: string;
}

/** An answer of the S3 API that is no success. */
export class S3Error extends Error {
  override readonly name = "S3Error";
  /** HTTP status. */
  readonly status: number;
  /** S3's own code, such as `AccessDenied`; undefined where the answer has no body, as for HEAD. */
  readonly code: string | undefined;

  constructor(call: string, status: number, code: string | undefined, reason: string | undefined) {
    super(`${call}: ${[status, code].filter(Boolean).join(" ")}${reason ? ` (${reason})` : ""}`);
    this.status = status;
    this.code = code;
  }
}

/** Splits `s3://bucket/key`. Table locations are not URL-encoded, so they must not be read as URLs. */
export function parseLocation(location: string): { bucket: string; key: string } {
  const [, bucket, key = ""] = /^s3:\/\/([^/]+)(?:\/(.*))?$/.exec(location) ?? [];
  if (bucket === undefined) throw new TypeError(`not an s3:// location: ${location}`);
  return { bucket, key };
}

const TIMEOUT_MS = 30_000;

const xml = new XMLParser({ parseTagValue: false, isArray: (name) => name === "Contents" });

/** A client for the few calls that a check of a bucket needs. It does not retry. Every failure names call and object. */
export class S3Client {
  readonly #access: S3Access;

  constructor(access: S3Access) {
    this.#access = access;
  }

  async get(bucket: string, key: string, range?: string): Promise<Buffer> {
    return this.#call("GET", bucket, key, { headers: range ? { range } : {} });
  }

  async head(bucket: string, key: string): Promise<void> {
    await this.#call("HEAD", bucket, key);
  }

  async put(bucket: string, key: string, body: Buffer | string): Promise<void> {
    await this.#call("PUT", bucket, key, { body, headers: { "content-type": "application/octet-stream" } });
  }

  async delete(bucket: string, key: string): Promise<void> {
    await this.#call("DELETE", bucket, key);
  }

  /** One page of the objects whose keys begin with `prefix`, at most `maxKeys` (1 to 1000). */
  async list(bucket: string, prefix: string, maxKeys = 1000, continuationToken?: string): Promise<S3Listing> {
    const query = { "list-type": "2", prefix, "max-keys": String(maxKeys) };
    const token = continuationToken === undefined ? {} : { "continuation-token": continuationToken };
    const answer = await this.#call("GET", bucket, "", { query: { ...query, ...token } });
    const page = xml.parse(answer.toString()) as {
      ListBucketResult: { Contents?: { Key: string; Size: string }[]; NextContinuationToken?: string };
    };
    const { Contents = [], NextContinuationToken } = page.ListBucketResult;
    return {
      objects: Contents.map(({ Key, Size }) => ({ key: Key, size: Number(Size) })),
      ...(NextContinuationToken === undefined ? {} : { continuationToken: NextContinuationToken }),
    };
  }

  async #call(
    method: Dispatcher.HttpMethod,
    bucket: string,
    key: string,
    { query = {}, headers = {}, body }: CallOptions = {},
  ): Promise<Buffer> {
    const { pathStyle = true, endpoint, ...credentials } = this.#access;
    const url = new URL(endpoint);
    if (!pathStyle) url.hostname = `${bucket}.${url.hostname}`;
    const names = [...(pathStyle ? [bucket] : []), ...key.split("/")];
    url.pathname = `${url.pathname.replace(/\/$/, "")}/${names.map(encode).join("/")}`;
    // By hand, since URLSearchParams writes a space as "+", which S3 signs as a plus.
    url.search = Object.entries(query)
      .map(([name, value]) => `${name}=${encode(value)}`)
      .join("&");

    const hash = createHash("sha256")
      .update(body ?? "")
      .digest("hex");
    const signed = await new AwsV4Signer({
      ...credentials,
      service: "s3",
      method,
      url: url.href,
      headers: { ...headers, "x-amz-content-sha256": hash },
    }).sign();

    const call = `${method} s3://${bucket}/${key || `?prefix=${query.prefix ?? ""}`}`;
    const answer = await request(signed.url, {
      method,
      headers: Object.fromEntries(signed.headers),
      body: body ?? null,
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
    }).catch((cause: Error) => {
      const remedy = "Check that it runs and that its address is right; then run the command again.";
      throw new Error(`${call}: no answer from ${url.origin} (${cause.message}). ${remedy}`, { cause });
    });
    const content = Buffer.from(await answer.body.arrayBuffer());
    if (answer.statusCode >= 300) throw refusal(call, answer.statusCode, content.toString());
    return content;
  }
}

interface CallOptions {
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: Buffer | string;
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

function refusal(call: string, status: number, body: string): S3Error {
  const isXml = body.trimStart().startsWith("<");
  const { Error: error } = (isXml ? xml.parse(body) : {}) as { Error?: { Code?: string; Message?: string } };
  return new S3Error(call, status, error?.Code, error?.Message);
}
