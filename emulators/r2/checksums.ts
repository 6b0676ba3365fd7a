import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { crc32c, crc64nvme } from "./crc.ts";

/** A running checksum over a stream of bytes. */
export interface Checksum {
  update(chunk: Buffer): void;
  /** The checksum of everything seen, base64 as in the `x-amz-checksum-*` headers. */
  digest(): string;
}

export const checksumAlgorithms = ["CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256"] as const;
export type ChecksumAlgorithm = (typeof checksumAlgorithms)[number];

export function createChecksum(algorithm: ChecksumAlgorithm | "MD5"): Checksum {
  switch (algorithm) {
    case "CRC32":
      return crc(
        0,
        (chunk, value) => crc32(chunk, value),
        (value) => bytes32(value),
      );
    case "CRC32C":
      return crc(0, crc32c, (value) => bytes32(value));
    case "CRC64NVME":
      return crc(0n, crc64nvme, (value) => bytes64(value));
    default:
      return hash(algorithm);
  }
}

/** `CRC32` -> `x-amz-checksum-crc32`. */
export function checksumHeader(algorithm: ChecksumAlgorithm): string {
  return `x-amz-checksum-${algorithm.toLowerCase()}`;
}

/** The element that names a checksum in XML bodies: `CRC32` -> `ChecksumCRC32`. */
export function checksumElement(algorithm: ChecksumAlgorithm): string {
  return `Checksum${algorithm}`;
}

/** Is `value` the base64 of as many bytes as this algorithm yields? */
export function isWellFormed(algorithm: ChecksumAlgorithm | "MD5", value: string): boolean {
  const bytes = Buffer.from(value, "base64");
  return bytes.length === lengths[algorithm] && bytes.toString("base64") === value;
}

const lengths = { CRC32: 4, CRC32C: 4, CRC64NVME: 8, MD5: 16, SHA1: 20, SHA256: 32 };

function crc<T>(initial: T, step: (chunk: Buffer, value: T) => T, bytes: (value: T) => Buffer): Checksum {
  let value = initial;
  return {
    update(chunk) {
      value = step(chunk, value);
    },
    digest: () => bytes(value).toString("base64"),
  };
}

function hash(algorithm: string): Checksum {
  const running = createHash(algorithm);
  return {
    update(chunk) {
      running.update(chunk);
    },
    digest: () => running.digest("base64"),
  };
}

function bytes32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function bytes64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(value);
  return bytes;
}
