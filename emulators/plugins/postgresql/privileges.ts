import { crc32 } from "node:zlib";
import type { Properties } from "../protocol.ts";
import { list, text } from "./resource.ts";

/**
 * What can be granted on each type of object, beside `ALL`. The real plugin does not know `MAINTAIN`, which tables have
 * since Postgres 17 (terraform-provider-postgresql, issue 506): there `ALL` on tables differs after every refresh.
 */
const allowed: Record<string, readonly string[]> = {
  database: ["CREATE", "CONNECT", "TEMPORARY"],
  table: ["SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"],
  sequence: ["USAGE", "SELECT", "UPDATE"],
  schema: ["CREATE", "USAGE"],
  function: ["EXECUTE"],
  type: ["USAGE"],
};

/** How the server's catalog calls a type of object. */
export const catalogLetters: Record<string, string> = {
  table: "r",
  sequence: "S",
  function: "f",
  type: "T",
  schema: "n",
};

/** @throws Error for a privilege that there is not on such an object */
export function requireAllowed(plan: Properties): void {
  const objectType = text(plan, "objectType");
  const wrong = list(plan, "privileges").find((each) => each !== "ALL" && !allowed[objectType]?.includes(each));
  if (wrong !== undefined) throw new Error(`${wrong} is not an allowed privilege for object type ${objectType}`);
}

/** The privileges as they are in statements: in the order of their hashes, in which Terraform has a set. */
export function listed(privileges: readonly string[]): string {
  const hashed = privileges.map((each) => [String(crc32(each)), each] as const);
  return hashed
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, each]) => each)
    .join(",");
}

/** Whether these are the privileges of the state, be it as `ALL`. */
export function areGranted(granted: readonly string[], state: Properties): boolean {
  const wanted = list(state, "privileges");
  const all = allowed[text(state, "objectType")] ?? [];
  return isSame(granted, wanted) || (wanted.includes("ALL") && isSame(granted, all));
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.every((each) => others.includes(each)) && others.every((each) => some.includes(each));
}
