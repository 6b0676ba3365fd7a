import type { IncomingMessage } from "node:http";
import {
  checksumAlgorithms,
  checksumHeader,
  createChecksum,
  isWellFormed,
  type Checksum,
  type ChecksumAlgorithm,
} from "./checksums.ts";
import { chunkSigner, decodeChunks, type Trailers } from "./chunked.ts";
import { S3Error } from "./errors.ts";
import type { Signature } from "./sigv4.ts";
import type { ObjectChecksum } from "./store.ts";

/** The body of a request. Its checks have passed only when it has been read to its end. */
export interface Body {
  content: AsyncIterable<Buffer>;
  /** In hex, once the content has been read. */
  md5(): string;
  /** The checksum that the client sent along, in a header or trailing. */
  checksum(): ObjectChecksum | undefined;
}

/** R2 takes objects and parts of up to 5 GiB in one request. */
const maximumSize = 5 * 1024 ** 3;

/**
 * The content of a request, unframed, that fails at its end when it is not what the client signed and sent checksums for.
 *
 * @param signedChunks whether to accept bodies signed chunk by chunk, which R2 does not
 * @throws S3Error for a body that must be refused before reading it
 */
export function openBody(request: IncomingMessage, signature: Signature, secret: string, signedChunks: boolean): Body {
  const { payload } = signature;
  if (payload === undefined) {
    throw new S3Error("InvalidRequest", "Missing required header for this request: x-amz-content-sha256");
  }
  const md5 = createChecksum("MD5");
  let computedMd5 = "";
  const trailers: Trailers = new Map();
  const expectation = expectedChecksum(request);
  const hasBody = request.method === "PUT" || request.method === "POST";
  const size = contentLength(request, payload, hasBody);

  async function* verified(): AsyncGenerator<Buffer> {
    const sha = /^[0-9a-f]{64}$/.test(payload!) ? createChecksum("SHA256") : undefined;
    const checksum = expectation && createChecksum(expectation.algorithm);
    const running = [md5, sha, checksum].filter((check): check is Checksum => check !== undefined);
    let received = 0;
    const source = unframed(request, signature, secret, trailers, signedChunks);
    for await (const chunk of source === request && isBodiless(request) ? [] : source) {
      received += chunk.length;
      for (const check of running) check.update(chunk);
      yield chunk;
    }
    if (size !== undefined && received !== size) throw new S3Error("IncompleteBody");
    computedMd5 = md5.digest();
    if (sha && Buffer.from(sha.digest(), "base64").toString("hex") !== payload)
      throw new S3Error("XAmzContentSHA256Mismatch");
    const expectedMd5 = request.headers["content-md5"];
    if (expectedMd5 !== undefined && expectedMd5 !== computedMd5) throw new S3Error("BadDigest");
    if (expectation && checksum) {
      expectation.value ??= trailers.get(checksumHeader(expectation.algorithm));
      if (expectation.value !== checksum.digest()) throw new S3Error("BadDigest");
    }
  }

  return {
    content: verified(),
    md5: () => Buffer.from(computedMd5, "base64").toString("hex"),
    checksum: () => expectation && { algorithm: expectation.algorithm, value: expectation.value! },
  };
}

/** The whole of a small body, such as an XML document. */
export async function readText(body: Body, limit = 2 * 1024 * 1024): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body.content) {
    size += chunk.length;
    if (size > limit) throw new S3Error("EntityTooLarge");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function unframed(
  request: IncomingMessage,
  signature: Signature,
  secret: string,
  trailers: Trailers,
  signedChunks: boolean,
): AsyncIterable<Buffer> {
  const payload = signature.payload!;
  switch (payload) {
    case "STREAMING-UNSIGNED-PAYLOAD-TRAILER":
      return decodeChunks(request, trailers, undefined);
    case "STREAMING-AWS4-HMAC-SHA256-PAYLOAD":
    case "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER":
      if (!signedChunks) throw new S3Error("NotImplemented", `${payload} not implemented`);
      return decodeChunks(request, trailers, chunkSigner(signature, secret));
    case "UNSIGNED-PAYLOAD":
      return request;
    default:
      if (/^[0-9a-f]{64}$/.test(payload)) return request;
      throw new S3Error(
        "InvalidArgument",
        "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, STREAMING-... or a SHA-256 in hex.",
      );
  }
}

/** Most requests have no body, and to ask a stream whether it has ended takes longer than to look at their headers. */
function isBodiless({ headers }: IncomingMessage): boolean {
  return headers["content-length"] === undefined && headers["transfer-encoding"] === undefined;
}

function contentLength(request: IncomingMessage, payload: string, hasBody: boolean): number | undefined {
  const name = payload.startsWith("STREAMING-") ? "x-amz-decoded-content-length" : "content-length";
  const header = request.headersDistinct[name]?.[0];
  if (header === undefined) {
    if (hasBody) throw new S3Error("MissingContentLength");
    return undefined;
  }
  const length = Number(header);
  if (!Number.isInteger(length) || length < 0)
    throw new S3Error("InvalidArgument", `The header ${name} must be a number.`);
  if (length > maximumSize) throw new S3Error("EntityTooLarge");
  return length;
}

/** The checksum that the client announces; its value comes later when it is a trailing one. */
interface Expectation {
  algorithm: ChecksumAlgorithm;
  value?: string | undefined;
}

function expectedChecksum(request: IncomingMessage): Expectation | undefined {
  const [md5] = request.headersDistinct["content-md5"] ?? [];
  if (md5 !== undefined && !isWellFormed("MD5", md5)) throw new S3Error("InvalidDigest");
  const announced = request.headers["x-amz-trailer"];
  const trailing = typeof announced === "string" ? announced.split(",").map((name) => name.trim().toLowerCase()) : [];
  const found = checksumAlgorithms.flatMap((algorithm): Expectation[] => {
    const value = request.headers[checksumHeader(algorithm)];
    if (typeof value === "string") return [{ algorithm, value }];
    return trailing.includes(checksumHeader(algorithm)) ? [{ algorithm }] : [];
  });
  const [first, second] = found;
  if (second !== undefined) throw new S3Error("InvalidRequest", "Expecting a single x-amz-checksum- header");
  if (first?.value !== undefined && !isWellFormed(first.algorithm, first.value)) {
    throw new S3Error("InvalidDigest", `Value for ${checksumHeader(first.algorithm)} header is invalid.`);
  }
  return first;
}
