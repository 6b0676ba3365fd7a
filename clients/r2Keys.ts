import { createHash } from "node:crypto";

/** A Cloudflare API token is an S3 key pair of R2 as well: its id, and the SHA-256 of its value in hex. */
export function secretAccessKeyOf(tokenValue: string): string {
  return createHash("sha256").update(tokenValue).digest("hex");
}
