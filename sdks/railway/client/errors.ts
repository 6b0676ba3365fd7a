import { UserError } from "../../../clients/errors.ts";

/**
 * What a failure means for the caller:
 * - `notFound`: the object is certainly not there.
 * - `notAuthorized`: a dead token, or a denial on the object; Railway words both alike. Never "gone".
 * - `throttled`: refused before anything was done.
 * - `conflict`: the name is taken.
 * - `validation`: the query does not fit the API's schema.
 * - `masked`: Railway hides what went wrong. A mutation may have been done.
 * - `ambiguous`: no proper answer (timeout, reset, 5xx, no data). A mutation may have been done.
 * - `unreachable`: it certainly never reached Railway.
 * - `refused`: everything else that Railway answers with an error.
 */
export type ErrorKind =
  | "notFound"
  | "notAuthorized"
  | "throttled"
  | "conflict"
  | "validation"
  | "masked"
  | "ambiguous"
  | "unreachable"
  | "refused";

/** A failed call of Railway's API. Its message holds no secret. */
export class RailwayError extends UserError {
  readonly kind: ErrorKind;
  /** Milliseconds after which a throttled call may be sent again, where Railway says so. */
  readonly delay: number | undefined;

  constructor(kind: ErrorKind, message: string, delay?: number) {
    super(message);
    this.kind = kind;
    this.delay = delay;
  }
}

/** Whether an error is one of Railway's of this kind. */
export function isRailwayError(error: unknown, ...kinds: ErrorKind[]): error is RailwayError {
  return error instanceof RailwayError && kinds.includes(error.kind);
}

/** True when a mutation may have been done although it failed: look for its effect before sending it again. */
export function mayBeDone(error: unknown): error is RailwayError {
  return isRailwayError(error, "ambiguous", "masked");
}

/** The value of a call, or undefined when what it is about is certainly not there. */
export async function unlessGone<T>(call: Promise<T>): Promise<T | undefined> {
  return call.catch((error: unknown) => {
    if (isRailwayError(error, "notFound")) return undefined;
    throw error;
  });
}

/** Body-level refusals of the pace, such as "You are creating volumes too quickly". */
const TOO_QUICKLY = /too quickly|rate limit/i;
/** What seems to be waited out when such a refusal names no time (seen with third-party clients), in seconds. */
const PACE_SECONDS = 31;

/** Tells errors apart by their words: Railway codes few of them. The words are those of its clients and observed answers. */
export function classify(message: string, code: unknown): ErrorKind {
  if (TOO_QUICKLY.test(message)) return "throttled";
  if (/not authorized|unauthorized|token not found|two factor/i.test(message)) return "notAuthorized";
  if (code === "UNAUTHENTICATED" || code === "FORBIDDEN") return "notAuthorized";
  if (/not found|could not find/i.test(message) || code === "NOT_FOUND") return "notFound";
  if (/problem processing request|internal server error/i.test(message)) return "masked";
  if (/already exists|must be unique/i.test(message)) return "conflict";
  if (code === "GRAPHQL_VALIDATION_FAILED" || code === "BAD_USER_INPUT") return "validation";
  return "refused";
}

/** Milliseconds to wait after a body-level refusal of the pace, such as "... once every 30 seconds". */
export function paceDelay(message: string): number {
  const seconds = /(?:per|every)\s+(\d+)\s*s/i.exec(message)?.[1];
  return Number(seconds ?? PACE_SECONDS) * 1_000;
}
