import { requireBucket, storeOf } from "./buckets.ts";
import { readObject, type ApiCall, type Route } from "./call.ts";
import { invalidBody } from "./errors.ts";

const bucket = "/accounts/:account/r2/buckets/:bucket";

/** The rules of a bucket's lifecycle and locks. They are kept and shown, but nothing is done by them. */
export const bucketRuleRoutes: readonly Route[] = (["lifecycle", "lock"] as const).flatMap((kind) => [
  {
    name: `GetBucket${kind === "lock" ? "Lock" : "Lifecycle"}`,
    method: "GET",
    path: `${bucket}/${kind}`,
    permissions: ["Workers R2 Storage Read", "Workers R2 Storage Write"],
    handle: (call: ApiCall) => ({ rules: storeOf(call).bucketSettings(requireBucket(call))[kind] ?? [] }),
  },
  {
    name: `PutBucket${kind === "lock" ? "Lock" : "Lifecycle"}`,
    method: "PUT",
    path: `${bucket}/${kind}`,
    permissions: ["Workers R2 Storage Write"],
    handle: (call: ApiCall) => putRules(call, kind),
  },
]);

function putRules(call: ApiCall, kind: "lifecycle" | "lock"): object {
  const name = requireBucket(call);
  const { rules } = readObject(call, ["rules"]);
  if (!Array.isArray(rules) || !rules.every(isRule))
    throw invalidBody("rules must be a list of rules with id and enabled");
  const ids = new Set(rules.map(({ id }) => id));
  if (ids.size < rules.length) throw invalidBody("each rule must have an id of its own");
  const store = storeOf(call);
  store.setBucketSettings(name, { ...store.bucketSettings(name), [kind]: rules });
  return {};
}

function isRule(value: unknown): value is { id: string } {
  const { id, enabled } = (value ?? {}) as { id?: unknown; enabled?: unknown };
  return typeof id === "string" && id !== "" && typeof enabled === "boolean";
}
