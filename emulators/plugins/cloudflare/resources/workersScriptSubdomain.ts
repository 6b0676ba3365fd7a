import type { WorkersScriptSubdomainArgs } from "@pulumi/cloudflare/workersScriptSubdomain.js";
import type { Properties } from "../../protocol.ts";
import { resultOf, type Answer } from "../api.ts";
import { importId } from "../importId.ts";
import type { Resource } from "../resource.ts";
import { fromWire, toWire, type Property, type Schema } from "../schema.ts";

const sent = {
  enabled: { type: "boolean", required: true },
  previewsEnabled: { type: "boolean", computed: true },
} as const satisfies Schema;

const inputs = {
  accountId: { type: "string", required: true, replaces: true },
  scriptName: { type: "string", required: true, replaces: true },
  ...sent,
} as const satisfies Record<keyof WorkersScriptSubdomainArgs, Property>;

/** Whether a Worker is served on the account's subdomain of workers.dev. Its id is the account's. */
export const workersScriptSubdomain: Resource = {
  inputs,
  made: ["id"],
  unsettled: () => [],
  async create(api, plan) {
    const answer = await api.call({ method: "POST", path: pathOf(plan), body: toWire(sent, plan) });
    return { id: String(plan["accountId"]), outputs: outputsOf(answer, plan) };
  },
  async read(api, state) {
    const answer = await api.find({ method: "GET", path: pathOf(state) });
    return answer && { id: String(state["accountId"]), outputs: outputsOf(answer, state) };
  },
  imported(id) {
    const [accountId, scriptName] = importId("<account_id>/<script_name>", id);
    return { accountId, scriptName };
  },
  async update(api, plan) {
    return outputsOf(await api.call({ method: "POST", path: pathOf(plan), body: toWire(sent, plan) }), plan);
  },
  async delete(api, state) {
    await api.call({ method: "DELETE", path: pathOf(state) });
  },
};

function pathOf({ accountId, scriptName }: Properties): string {
  return `accounts/${String(accountId)}/workers/scripts/${String(scriptName)}/subdomain`;
}

function outputsOf(answer: Answer, { accountId, scriptName }: Properties): Properties {
  return { ...fromWire(sent, resultOf(answer) as Properties), accountId, scriptName, id: scriptName };
}
