import { CatalogError } from "./errors.ts";

/** Which part of a list is wanted. `size` undefined means all of it. */
export interface Page {
  readonly size: number | undefined;
  readonly afterMicros: string;
  readonly afterId: string;
}

/** Reads pageSize and pageToken. Throws 400 for a token this server did not make. */
export function readPage(query: URLSearchParams, sizes: { default?: number; max: number }): Page {
  const asked = query.get("pageSize");
  const token = query.get("pageToken");
  const size = asked !== null && /^\d+$/.test(asked) ? Math.min(Number(asked), sizes.max) : sizes.default;
  if (token === null || token === "") return { size, afterMicros: "-1", afterId: "" };
  const match = /^1&(-?\d+)&(.+)$/s.exec(Buffer.from(token, "base64url").toString());
  if (match === null) throw new CatalogError(400, "PaginateTokenParseError", "Invalid pagination token");
  return { size: size ?? sizes.max, afterMicros: match[1]!, afterId: match[2]! };
}

export function pageToken(last: { createdMicros: string; id: string }): string {
  return Buffer.from(`1&${last.createdMicros}&${last.id}`).toString("base64url");
}

/** The token for the rest, when the page came out full. */
export function nextPage(page: Page, rows: readonly { createdMicros: string; id: string }[]): object {
  const last = rows.at(-1);
  return last !== undefined && rows.length === page.size ? { "next-page-token": pageToken(last) } : {};
}
