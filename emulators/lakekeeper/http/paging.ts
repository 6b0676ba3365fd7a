import { isUuid } from "../ids.ts";
import { CatalogError, PlainTextError } from "./errors.ts";

/** Which part of a list is wanted. `size` undefined means all of it. */
export interface Page {
  readonly size: number | undefined;
  readonly afterMicros: string;
  readonly afterId: string;
}

function readSize(query: URLSearchParams): number | undefined {
  const asked = query.get("pageSize");
  if (asked === null) return undefined;
  if (!/^\d+$/.test(asked))
    throw new PlainTextError(400, "Failed to deserialize query string: pageSize: invalid digit found in string");
  return Number(asked);
}

/** Whether a token's numbers and id can be compared with those of rows; the ids of users are no UUIDs. */
function isPosition(micros: string, id: string): boolean {
  const time = BigInt(micros);
  return BigInt.asIntN(64, time) === time && (isUuid(id) || /^(oidc|kubernetes)~/.test(id));
}

/** Reads pageSize and pageToken. Throws 400 for a size that is no number and for a token this server did not make. */
export function readPage(query: URLSearchParams, sizes: { default?: number; max: number }): Page {
  const asked = readSize(query);
  const token = query.get("pageToken");
  const size = asked === undefined ? sizes.default : Math.min(asked, sizes.max);
  if (token === null || token === "") return { size, afterMicros: "-1", afterId: "" };
  const match = /^1&(-?\d+)&(.+)$/s.exec(Buffer.from(token, "base64url").toString());
  if (match === null || !isPosition(match[1]!, match[2]!))
    throw new CatalogError(400, "PaginateTokenParseError", "Invalid pagination token");
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
