import type { AccountTokenArgs } from "@pulumi/cloudflare/accountToken.js";
import type { input } from "@pulumi/cloudflare/types/index.js";
import type { Properties } from "../../protocol.ts";
import { resultOf, type Answer } from "../api.ts";
import { importId } from "../importId.ts";
import { Spent, type Resource } from "../resource.ts";
import { fromWire, toWire, type Property, type Schema } from "../schema.ts";

const permissionGroup = {
  id: { type: "string", required: true },
} satisfies Record<keyof input.AccountTokenPolicyPermissionGroup, Property>;

const policy = {
  effect: { type: "string", required: true, oneOf: ["allow", "deny"] },
  permissionGroups: { type: { list: { object: permissionGroup } }, required: true },
  resources: { type: "json", required: true },
} satisfies Record<keyof input.AccountTokenPolicy, Property>;

const requestIp = {
  ins: { type: { list: "string" }, wire: "in" },
  notIns: { type: { list: "string" }, wire: "not_in" },
} satisfies Record<keyof input.AccountTokenConditionRequestIp, Property>;

const condition = {
  requestIp: { type: { object: requestIp } },
} satisfies Record<keyof input.AccountTokenCondition, Property>;

const { accountId, ...sent } = {
  accountId: { type: "string", required: true, replaces: true },
  condition: { type: { object: condition } },
  expiresOn: { type: "string" },
  name: { type: "string", required: true },
  notBefore: { type: "string" },
  policies: { type: { list: { object: policy } }, required: true },
  status: { type: "string", computed: true, oneOf: ["active", "disabled", "expired"] },
} as const satisfies Record<keyof AccountTokenArgs, Property>;

const inputs: Schema = { accountId, ...sent };

const outputs: Schema = {
  ...sent,
  id: { type: "string" },
  issuedOn: { type: "string" },
  lastUsedOn: { type: "string" },
  modifiedOn: { type: "string" },
  value: { type: "string" },
};

export const accountToken: Resource = {
  inputs,
  schemaVersion: "501",
  made: ["id", "issuedOn", "lastUsedOn", "modifiedOn", "status", "value"],
  secretOutputs: ["value"],
  unsettled: () => ["issuedOn", "lastUsedOn", "modifiedOn", "status"],
  async create(api, plan) {
    const path = `accounts/${String(plan["accountId"])}/tokens`;
    const answer = await api.call({ method: "POST", path, body: toWire(sent, plan) });
    const made = outputsOf(answer, plan);
    return { id: String(made["id"]), outputs: made };
  },
  async read(api, state, id) {
    const answer = await api.find({ method: "GET", path: pathOf(state, id) });
    if (answer === undefined) return undefined;
    const found = outputsOf(answer, state);
    const status = String(found["status"]);
    if (status === "expired" || status.startsWith("revoked")) {
      throw new Spent(
        "Token expired or revoked",
        `Token "${String(found["name"])}" is in "${status}" status and is no longer usable. ` +
          "It will be removed from state and recreated on the next apply.",
      );
    }
    return { id, outputs: found };
  },
  imported(id) {
    const [account, token] = importId("<account_id>/<token_id>", id);
    return { accountId: account, id: token };
  },
  async update(api, plan, state) {
    const path = pathOf(state, String(state["id"]));
    return outputsOf(await api.call({ method: "PUT", path, body: toWire(sent, plan) }), state);
  },
  async delete(api, state) {
    await api.call({ method: "DELETE", path: pathOf(state, String(state["id"])) });
  },
};

function pathOf(state: Properties, id: string): string {
  return `accounts/${String(state["accountId"])}/tokens/${id}`;
}

/** The value is in no answer but that to its creation. */
function outputsOf(answer: Answer, before: Properties): Properties {
  return {
    value: before["value"],
    ...fromWire(outputs, resultOf(answer) as Properties),
    accountId: before["accountId"],
  };
}
