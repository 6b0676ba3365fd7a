import type { FailureOf } from "../faults.ts";
import { CatalogError } from "./http/errors.ts";
import { stringifyJson } from "./http/json.ts";

/** Types of errors by status: the server's own, and those of the Iceberg REST specification where it has none. */
const types: Record<number, string> = {
  400: "BadRequestException",
  401: "AuthenticationFailed",
  403: "NotAuthorizedException",
  404: "NoSuchTableException",
  409: "CatalogCommitConflicts",
  500: "CatalogBackendError",
  503: "SlowDownException",
};

/** What the catalog answers when a fault makes it fail: the error model of Iceberg. */
export const failureOf: FailureOf = (status) => {
  const error = new CatalogError(status, types[status] ?? "InternalServerError", "The stand-in was told to fail.");
  return { type: "application/json", body: stringifyJson(error.body()) };
};
