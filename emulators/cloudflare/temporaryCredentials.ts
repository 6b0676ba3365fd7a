import { includes, isPermission } from "../r2/permissions.ts";
import { mint, type Scope } from "../r2/temporaryCredentials.ts";
import { readObject, type ApiCall, type Route } from "./call.ts";
import { CloudflareError, invalidBody } from "./errors.ts";

/** Needs no permission group: what the parent may, its children may. */
export const temporaryCredentialRoutes: readonly Route[] = [
  {
    name: "CreateTemporaryCredentials",
    method: "POST",
    path: "/accounts/:account/r2/temp-access-credentials",
    handle: createTemporaryCredentials,
  },
];

const fields = ["bucket", "parentAccessKeyId", "permission", "ttlSeconds", "prefixes", "objects"] as const;

function createTemporaryCredentials(call: ApiCall): object {
  const { account, bearer, now } = call;
  const { bucket, parentAccessKeyId, permission, ttlSeconds, prefixes, objects } = readObject(call, fields);
  if (typeof bucket !== "string") throw invalidBody("bucket must be a string");
  if (typeof parentAccessKeyId !== "string") throw invalidBody("parentAccessKeyId must be a string");
  if (!isPermission(permission)) {
    throw invalidBody("permission must be admin-read-write, admin-read-only, object-read-write or object-read-only");
  }
  if (typeof ttlSeconds !== "number" || !Number.isInteger(ttlSeconds) || ttlSeconds < 1 || ttlSeconds > 604_800) {
    throw invalidBody("ttlSeconds must be a whole number from 1 to 604800");
  }
  if (parentAccessKeyId !== bearer.id)
    throw new CloudflareError(403, 10003, "Access Denied: parentAccessKeyId is not that of the API token");
  if (bearer.permission === undefined || !includes(bearer.permission, permission))
    throw new CloudflareError(403, 10003, "Access Denied: the parent has not this permission");
  if (!account.hasBucket(bucket) || bearer.buckets?.includes(bucket) === false) {
    throw new CloudflareError(404, 10006, "The specified bucket does not exist.");
  }
  const scope: Scope = { bucket, scope: permission };
  const prefixPaths = optionalTexts(prefixes, "prefixes");
  const objectPaths = optionalTexts(objects, "objects");
  if (prefixPaths.length + objectPaths.length > 0) scope.paths = { prefixPaths, objectPaths };
  const { accessKeyId, secretAccessKey, sessionToken } = mint(account, bearer, scope, ttlSeconds, now);
  return { accessKeyId, secretAccessKey, sessionToken };
}

function optionalTexts(value: unknown, name: string): string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value) || !value.every((text) => typeof text === "string"))
    throw invalidBody(`${name} must be a list of strings`);
  return value;
}
