import type { FailureOf } from "../faults.ts";
import { CatalogError } from "./http/errors.ts";
import { stringifyJson } from "./http/json.ts";

/** The types that the Iceberg REST specification gives errors of these statuses. */
const types: Record<number, string> = {
  400: "BadRequestException",
  401: "NotAuthorizedException",
  403: "NotAuthorizedException",
  404: "NoSuchTableException",
  406: "UnsupportedOperationException",
  409: "CommitFailedException",
  419: "AuthenticationTimeoutException",
  503: "SlowDownException",
};

/** What the catalog answers when a fault makes it fail: the error model of Iceberg. */
export const failureOf: FailureOf = (status) => {
  const error = new CatalogError(status, types[status] ?? "InternalServerError", "The stand-in was told to fail.");
  return { type: "application/json", body: stringifyJson(error.body()) };
};
