import { createHash } from "node:crypto";
import { S3Error } from "./errors.ts";
import { credentialScope, sha256, sign, type Signature } from "./sigv4.ts";

/** Trailing headers of an `aws-chunked` body by their names in lower case; complete once the body has been read. */
export type Trailers = Map<string, string>;

/** Checks the signatures of chunks, where the body is signed chunk by chunk. */
interface ChunkSigner {
  chunk(hash: string, signature: string | undefined): void;
  trailer(lines: string, signature: string | undefined): void;
}

/**
 * Takes the `aws-chunked` framing off a body: `<hex size>[;chunk-signature=<hex>]`, the bytes, and after the last,
 * empty chunk the trailing headers.
 *
 * @throws S3Error IncompleteBody, InvalidRequest for broken framing, SignatureDoesNotMatch
 */
export async function* decodeChunks(
  source: AsyncIterable<Buffer>,
  trailers: Trailers,
  signer: ChunkSigner | undefined,
): AsyncGenerator<Buffer> {
  const input = new Input(source);
  for (;;) {
    const match = /^([0-9a-fA-F]{1,8})(?:;chunk-signature=([0-9a-f]{64}))?$/.exec(await input.line());
    if (match === null) throw new S3Error("InvalidRequest", "The aws-chunked body is not well formed.");
    const size = Number.parseInt(match[1]!, 16);
    const hash = createHash("sha256");
    for await (const bytes of input.bytes(size)) {
      if (signer !== undefined) hash.update(bytes);
      yield bytes;
    }
    signer?.chunk(hash.digest("hex"), match[2]);
    if (size === 0) break;
    if ((await input.line()) !== "") throw new S3Error("InvalidRequest", "A chunk is longer than it says.");
  }
  let signed = "";
  for (let line = await input.line(); line !== ""; line = await input.line()) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (name !== "x-amz-trailer-signature") signed += `${name}:${value}\n`;
    trailers.set(name, value);
  }
  if (signed !== "") signer?.trailer(signed, trailers.get("x-amz-trailer-signature"));
}

/** Each chunk's signature covers the one before it, the first one's that of the request. */
export function chunkSigner(request: Signature, secret: string): ChunkSigner {
  let previous = request.value;
  const verify = (algorithm: string, content: string, signature: string | undefined): void => {
    const text = `${algorithm}\n${credentialScope(request, `${previous}\n${content}`)}`;
    previous = sign(request, secret, text).toString("hex");
    if (signature !== previous) throw new S3Error("SignatureDoesNotMatch");
  };
  return {
    chunk: (hash, signature) => verify("AWS4-HMAC-SHA256-PAYLOAD", `${sha256("")}\n${hash}`, signature),
    trailer: (lines, signature) => verify("AWS4-HMAC-SHA256-TRAILER", sha256(lines), signature),
  };
}

/** Reads lines and runs of bytes from a stream of buffers. */
class Input {
  readonly #source: AsyncIterator<Buffer>;
  #buffer: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Up to the next CRLF, without it. */
  async line(): Promise<string> {
    let end = this.#buffer.indexOf("\r\n");
    while (end === -1) {
      if (this.#buffer.length > 8192)
        throw new S3Error("InvalidRequest", "A line of the aws-chunked body is too long.");
      const next = await this.#source.next();
      if (next.done) throw new S3Error("IncompleteBody");
      this.#buffer = Buffer.concat([this.#buffer, next.value]);
      end = this.#buffer.indexOf("\r\n");
    }
    const line = this.#buffer.toString("latin1", 0, end);
    this.#buffer = this.#buffer.subarray(end + 2);
    return line;
  }

  async *bytes(count: number): AsyncGenerator<Buffer> {
    for (let missing = count; missing > 0;) {
      if (this.#buffer.length === 0) {
        const next = await this.#source.next();
        if (next.done) throw new S3Error("IncompleteBody");
        this.#buffer = next.value;
      }
      const bytes = this.#buffer.subarray(0, missing);
      this.#buffer = this.#buffer.subarray(bytes.length);
      missing -= bytes.length;
      yield bytes;
    }
  }
}
