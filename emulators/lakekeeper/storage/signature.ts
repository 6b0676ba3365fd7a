import { createHash, createHmac } from "node:crypto";

// With node:crypto and not Web Crypto, which sends each of a signature's nine digests through another thread.

export interface S3Keys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** What Signature Version 4 signs. */
export interface Signable {
  readonly method: string;
  /** With an encoded path, as it is sent. */
  readonly url: string;
  readonly service: "s3" | "sts";
  readonly region: string;
  readonly body: Buffer | string;
  readonly now: Date;
}

/** The headers of a request's Signature Version 4 ("Create a signed AWS API request" in AWS's documentation). */
export function signatureHeaders(request: Signable, keys: S3Keys): Record<string, string> {
  const { host, pathname, searchParams } = new URL(request.url);
  const timestamp = request.now.toISOString().replace(/[-:]|\.\d+/g, "");
  const payload = sha256(request.body);
  const headers: Record<string, string> = {
    host,
    "x-amz-content-sha256": payload,
    "x-amz-date": timestamp,
    ...(keys.sessionToken === undefined ? {} : { "x-amz-security-token": keys.sessionToken }),
  };
  const query = [...searchParams]
    .map(([name, value]) => `${encodeStrictly(name)}=${encodeStrictly(value)}`)
    .sort()
    .join("&");
  const names = Object.keys(headers).join(";");
  const lines = Object.entries(headers).map(([name, value]) => `${name}:${value}\n`);
  const canonical = [request.method, pathname, query, lines.join(""), names, payload].join("\n");

  const scope = [timestamp.slice(0, 8), request.region, request.service, "aws4_request"];
  const key = scope.reduce<string | Buffer>(hmac, `AWS4${keys.secretAccessKey}`);
  const signature = hmac(key, ["AWS4-HMAC-SHA256", timestamp, scope.join("/"), sha256(canonical)].join("\n"));
  const credential = `${keys.accessKeyId}/${scope.join("/")}`;
  return {
    ...headers,
    authorization: `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${names}, Signature=${signature.toString("hex")}`,
  };
}

/** Percent-encodes all but letters, digits and `-._~`. */
export function encodeStrictly(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function sha256(content: Buffer | string): string {
  return createHash("sha256").update(content).digest("hex");
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
