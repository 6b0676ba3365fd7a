/** CRC-32C (Castagnoli), continuing from `previous` (0 to begin). */
export function crc32c(chunk: Buffer, previous: number): number {
  let crc = ~previous;
  for (const byte of chunk) crc = (crc >>> 8) ^ table32c[(crc ^ byte) & 0xff]!;
  return ~crc >>> 0;
}

/**
 * CRC-64/NVME, continuing from `previous` (0n to begin).
 *
 * Works on two 32-bit halves: BigInt arithmetic for each byte would be some fifty times slower.
 */
export function crc64nvme(chunk: Buffer, previous: bigint): bigint {
  let high = ~Number(previous >> 32n);
  let low = ~Number(previous & 0xffffffffn);
  for (const byte of chunk) {
    const index = (low ^ byte) & 0xff;
    low = ((low >>> 8) | (high << 24)) ^ table64.low[index]!;
    high = (high >>> 8) ^ table64.high[index]!;
  }
  return (BigInt(~high >>> 0) << 32n) | BigInt(~low >>> 0);
}

const table32c = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  return crc;
});

const table64 = (() => {
  const low = new Int32Array(256);
  const high = new Int32Array(256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = BigInt(byte);
    for (let bit = 0; bit < 8; bit++) crc = (crc >> 1n) ^ (crc & 1n ? 0x9a6c9329ac4bc9b5n : 0n);
    low[byte] = Number(crc & 0xffffffffn);
    high[byte] = Number(crc >> 32n);
  }
  return { low, high };
})();
