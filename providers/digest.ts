import { createHash } from "node:crypto";

/** A short text that is another for another value, for triggers: a preview prints those. */
export function digest(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);
}
