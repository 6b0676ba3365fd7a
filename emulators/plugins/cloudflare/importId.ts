import { Diagnostic } from "./diagnostics.ts";

/**
 * The parts of an id such as `<account_id>/<bucket_name>`.
 *
 * @throws Diagnostic when it has not so many
 */
export function importId(form: string, id: string): string[] {
  const parts = id.split("/").map(decodeURIComponent);
  if (parts.length === form.split("/").length && parts.every((part) => part !== "")) return parts;
  throw new Diagnostic("invalid ID", `expected urlencoded segments "${form}", got "${id}"`);
}
