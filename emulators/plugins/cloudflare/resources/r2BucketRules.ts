import type { R2BucketLifecycleArgs } from "@pulumi/cloudflare/r2bucketLifecycle.js";
import type { R2BucketLockArgs } from "@pulumi/cloudflare/r2bucketLock.js";
import type { input } from "@pulumi/cloudflare/types/index.js";
import type { Properties } from "../../protocol.ts";
import { resultOf, type Answer } from "../api.ts";
import { Diagnostic } from "../diagnostics.ts";
import type { Resource } from "../resource.ts";
import { fromWire, toWire, type Property, type Schema } from "../schema.ts";

/*
 * These two were not recorded: requests and inputs are those of Cloudflare's documentation and the SDK's types; the id is
 * the account's, as of the other type without an id of its own.
 */

const ageOrDate = {
  type: { type: "string", required: true, oneOf: ["Age", "Date"] },
  maxAge: { type: "number", wire: "maxAge" },
  date: { type: "string" },
} as const satisfies Record<keyof input.R2BucketLifecycleRuleDeleteObjectsTransitionCondition, Property>;

const age = {
  type: { type: "string", required: true, oneOf: ["Age"] },
  maxAge: { type: "number", required: true, wire: "maxAge" },
} as const satisfies Record<keyof input.R2BucketLifecycleRuleAbortMultipartUploadsTransitionCondition, Property>;

const storageClassTransition = {
  condition: { type: { object: ageOrDate }, required: true },
  storageClass: { type: "string", required: true, oneOf: ["InfrequentAccess"], wire: "storageClass" },
} as const satisfies Record<keyof input.R2BucketLifecycleRuleStorageClassTransition, Property>;

const lifecycleRule = {
  id: { type: "string", required: true },
  enabled: { type: "boolean", required: true },
  conditions: { type: { object: { prefix: { type: "string", required: true } } }, required: true },
  abortMultipartUploadsTransition: {
    type: { object: { condition: { type: { object: age } } } },
    wire: "abortMultipartUploadsTransition",
  },
  deleteObjectsTransition: {
    type: { object: { condition: { type: { object: ageOrDate } } } },
    wire: "deleteObjectsTransition",
  },
  storageClassTransitions: { type: { list: { object: storageClassTransition } }, wire: "storageClassTransitions" },
} as const satisfies Record<keyof input.R2BucketLifecycleRule, Property>;

const lockCondition = {
  type: { type: "string", required: true, oneOf: ["Age", "Date", "Indefinite"] },
  maxAgeSeconds: { type: "number", wire: "maxAgeSeconds" },
  date: { type: "string" },
} as const satisfies Record<keyof input.R2BucketLockRuleCondition, Property>;

const lockRule = {
  id: { type: "string", required: true },
  enabled: { type: "boolean", required: true },
  prefix: { type: "string" },
  condition: { type: { object: lockCondition }, required: true },
} as const satisfies Record<keyof input.R2BucketLockRule, Property>;

export const r2BucketLifecycle = bucketRules("lifecycle", lifecycleRule);
export const r2BucketLock = bucketRules("lock", lockRule);

function bucketRules(kind: "lifecycle" | "lock", rule: Schema): Resource {
  const rules: Schema = { rules: { type: { list: { object: rule } } } };
  const inputs = {
    accountId: { type: "string", required: true, replaces: true },
    bucketName: { type: "string", required: true, replaces: true },
    jurisdiction: { type: "string", default: "default", replaces: true, oneOf: ["default", "eu", "fedramp"] },
    rules: rules["rules"]!,
  } as const satisfies Record<keyof R2BucketLifecycleArgs & keyof R2BucketLockArgs, Property>;
  const of = ({ accountId, bucketName, jurisdiction }: Properties) => ({
    path: `accounts/${String(accountId)}/r2/buckets/${String(bucketName)}/${kind}`,
    headers: { "Cf-R2-Jurisdiction": String(jurisdiction) },
  });
  const outputsOf = (answer: Answer, { accountId, bucketName, jurisdiction }: Properties): Properties => ({
    ...fromWire(rules, resultOf(answer) as Properties),
    ...{ accountId, bucketName, jurisdiction },
  });
  const put: Resource["update"] = async (api, plan) => {
    await api.call({ method: "PUT", ...of(plan), body: { rules: [], ...toWire(rules, plan) } });
    return plan;
  };
  return {
    inputs,
    made: [],
    unsettled: () => [],
    create: async (api, plan) => ({ id: String(plan["accountId"]), outputs: await put(api, plan, {}) }),
    async read(api, state, id) {
      const answer = await api.find({ method: "GET", ...of(state) });
      return answer && { id, outputs: outputsOf(answer, state) };
    },
    imported: (id) => {
      throw new Diagnostic("Resource Import Not Implemented", `This resource does not support import: "${id}"`);
    },
    update: put,
    // The API has no such request: the rules stay when the resource is taken out of the program.
    delete: async () => {},
  };
}
