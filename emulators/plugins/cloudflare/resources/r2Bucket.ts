import type { R2BucketArgs } from "@pulumi/cloudflare/r2bucket.js";
import type { Properties } from "../../protocol.ts";
import { resultOf, type Answer } from "../api.ts";
import { importId } from "../importId.ts";
import type { Resource } from "../resource.ts";
import { fromWire, type Property, type Schema } from "../schema.ts";

const inputs = {
  accountId: { type: "string", required: true, replaces: true },
  name: { type: "string", required: true, replaces: true },
  location: {
    type: "string",
    computed: true,
    replaces: true,
    ignoreCase: true,
    oneOf: ["apac", "eeur", "enam", "weur", "wnam", "oc"],
  },
  jurisdiction: { type: "string", default: "default", replaces: true, oneOf: ["default", "eu", "fedramp"] },
  storageClass: { type: "string", default: "Standard", oneOf: ["Standard", "InfrequentAccess"] },
} as const satisfies Record<keyof R2BucketArgs, Property>;

const outputs: Schema = {
  name: { type: "string" },
  creationDate: { type: "string" },
  location: { type: "string" },
  storageClass: { type: "string" },
  jurisdiction: { type: "string" },
};

export const r2Bucket: Resource = {
  inputs,
  schemaVersion: "500",
  made: ["creationDate", "id"],
  unsettled: () => [],
  async create(api, plan) {
    const answer = await api.call({
      method: "POST",
      path: `accounts/${String(plan["accountId"])}/r2/buckets`,
      headers: jurisdictionHeader(plan),
      body: { name: plan["name"], locationHint: plan["location"], storageClass: plan["storageClass"] },
    });
    return { id: String(plan["name"]), outputs: outputsOf(answer, plan["accountId"], plan["location"]) };
  },
  async read(api, state) {
    const answer = await api.find({ method: "GET", path: pathOf(state), headers: jurisdictionHeader(state) });
    return answer && { id: String(state["name"]), outputs: outputsOf(answer, state["accountId"]) };
  },
  imported(id) {
    const [accountId, name, jurisdiction] = importId("<account_id>/<bucket_name>/<jurisdiction>", id);
    return { accountId, name, jurisdiction };
  },
  async update(api, plan, state) {
    const answer = await api.call({
      method: "PATCH",
      path: pathOf(plan),
      headers: { ...jurisdictionHeader(plan), "Cf-R2-Storage-Class": String(plan["storageClass"]) },
    });
    return outputsOf(answer, plan["accountId"], state["location"]);
  },
  async delete(api, state) {
    await api.call({ method: "DELETE", path: pathOf(state), headers: jurisdictionHeader(state) });
  },
};

function pathOf({ accountId, name }: Properties): string {
  return `accounts/${String(accountId)}/r2/buckets/${encodeURIComponent(String(name))}`;
}

function jurisdictionHeader({ jurisdiction }: Properties): Record<string, string> {
  return { "Cf-R2-Jurisdiction": String(jurisdiction) };
}

/** @param location stays as it was written when the answer has it in other letters */
function outputsOf(answer: Answer, accountId: unknown, location?: unknown): Properties {
  const known = fromWire(outputs, resultOf(answer) as Properties);
  return { ...known, location: location ?? known["location"], accountId, id: known["name"] };
}
