import { UserError } from "../clients/errors.ts";

/** One way in which a stand-in misbehaves. */
export interface Fault {
  /** The rule as it was written, without the body. */
  readonly name: string;
  /** Whether it is about a request; `url` is its path and query. */
  matches(method: string, url: string): boolean;
  /** Whether it strikes before the request has had its effect, or when it has. */
  readonly when: "before" | "after";
  readonly delayMilliseconds: number;
  /** What the client gets; without it the true answer, late. */
  readonly outcome: { readonly status: number; readonly body?: string } | "reset" | undefined;
  /** Strikes every n-th matching request. */
  readonly every: number;
  /** Strikes no more often than this. */
  readonly first: number;
}

export const faultGrammar = `A fault is one rule: METHOD PATH, then what happens, separated by commas.

  METHOD       GET, PUT, ..., or * for any
  PATH         as in the request, percent-encoded; * stands for any text. With a ? it is compared with the query too
  before       strike instead of the request's effect (this is the default)
  after        let the request have its effect, then strike in place of the answer
  status N     answer with this status, as the service words its errors
  body TEXT    answer with this body, up to the end of the rule (status 200 unless one is given); comes last
  reset        reset the connection
  delay N      wait N milliseconds; alone, the true answer follows
  every N      only for every N-th request that matches
  first N      only the first N times

Examples:
  PUT /lakehouse/*, after, reset, every 3
  POST /client/v4/*, status 503, first 2
  GET /jwks.json, body {"keys": [
`;

/**
 * Reads a rule as {@link faultGrammar} describes it.
 *
 * @throws UserError that names the part that is wrong
 */
export function parseFault(rule: string): Fault {
  const [, head = "", body] = /^(.*?)(?:,\s*body\s(.*))?$/s.exec(rule.trim())!;
  const [target = "", ...parts] = head.split(",").map((part) => part.trim());
  const [, method, path] = /^([A-Z]+|\*)\s+([/*]\S*)$/.exec(target) ?? [];
  if (method === undefined || path === undefined) throw misunderstood(rule, target, "METHOD PATH comes first");

  const words = new Map<string, number | undefined>();
  for (const part of parts) {
    const [, word, number] = /^(before|after|reset|(?:status|delay|every|first)(?=\s))(?:\s+(\d+))?$/.exec(part) ?? [];
    const needsNumber = /^(status|delay|every|first)$/.test(word ?? "");
    if (word === undefined || needsNumber !== (number !== undefined)) throw misunderstood(rule, part);
    if (words.has(word)) throw misunderstood(rule, part, "it is there twice");
    words.set(word, number === undefined ? undefined : Number(number));
  }
  const status = words.get("status") ?? (body === undefined ? undefined : 200);
  if (words.has("before") && words.has("after")) throw misunderstood(rule, "after", "it is before or after");
  if (words.has("reset") && status !== undefined) throw misunderstood(rule, "reset", "a reset has no answer");
  if (status !== undefined && (status < 200 || status > 599))
    throw misunderstood(rule, `status ${status}`, "a status is from 200 to 599");
  for (const word of ["every", "first"])
    if (words.get(word) === 0) throw misunderstood(rule, `${word} 0`, "N is 1 or more");
  if (status === undefined && !words.has("reset") && !words.has("delay"))
    throw misunderstood(rule, head, "it says nothing of what happens: status, body, reset or delay");

  const pattern = wildcard(path);
  return {
    name: head,
    matches: (requestMethod, url) =>
      (method === "*" || method === requestMethod) && pattern.test(path.includes("?") ? url : url.split("?")[0]!),
    when: words.has("after") ? "after" : "before",
    delayMilliseconds: words.get("delay") ?? 0,
    outcome: words.has("reset")
      ? "reset"
      : status === undefined
        ? undefined
        : { status, ...(body !== undefined && { body }) },
    every: words.get("every") ?? 1,
    first: words.get("first") ?? Infinity,
  };
}

function wildcard(pattern: string): RegExp {
  return new RegExp(`^${pattern.replace(/[.+?^${}()|[\]\\/]/g, "\\$&").replaceAll("*", ".*")}$`, "s");
}

function misunderstood(rule: string, part: string, reason = "that is no part of a fault"): UserError {
  return new UserError(
    `The fault ${JSON.stringify(rule)} is wrong at ${JSON.stringify(part)}: ${reason}.\n${faultGrammar}`,
  );
}
