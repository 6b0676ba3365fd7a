import type { WorkersCustomDomainArgs } from "@pulumi/cloudflare/workersCustomDomain.js";
import type { Properties } from "../../protocol.ts";
import { resultOf, type Answer } from "../api.ts";
import { importId } from "../importId.ts";
import type { Resource } from "../resource.ts";
import { fromWire, toWire, type Property, type Schema } from "../schema.ts";

/*
 * Not recorded: requests and inputs are those of Cloudflare's documentation and the SDK's types. Attaching is one and the
 * same request for a new and for a changed one.
 */

const { accountId, ...sent } = {
  accountId: { type: "string", required: true, replaces: true },
  environment: { type: "string", computed: true },
  hostname: { type: "string", required: true },
  service: { type: "string", required: true },
  zoneId: { type: "string", computed: true },
  zoneName: { type: "string", computed: true },
} as const satisfies Record<keyof WorkersCustomDomainArgs, Property>;

const outputs: Schema = { ...sent, id: { type: "string" }, certId: { type: "string" } };

/** A host name of a zone that leads to a Worker. Its id is the API's. */
export const workersCustomDomain: Resource = {
  inputs: { accountId, ...sent },
  made: ["id", "certId"],
  unsettled: () => [],
  async create(api, plan) {
    const made = outputsOf(await attached(api, plan), plan);
    return { id: String(made["id"]), outputs: made };
  },
  async read(api, state, id) {
    const answer = await api.find({ method: "GET", path: pathOf(state, id) });
    return answer && { id, outputs: outputsOf(answer, state) };
  },
  imported(id) {
    const [account, domain] = importId("<account_id>/<domain_id>", id);
    return { accountId: account, id: domain };
  },
  async update(api, plan) {
    return outputsOf(await attached(api, plan), plan);
  },
  async delete(api, state) {
    await api.call({ method: "DELETE", path: pathOf(state, String(state["id"])) });
  },
};

function attached(api: Parameters<Resource["create"]>[0], plan: Properties): Promise<Answer> {
  const path = `accounts/${String(plan["accountId"])}/workers/domains`;
  return api.call({ method: "PUT", path, body: toWire(sent, plan) });
}

function pathOf({ accountId: account }: Properties, id: string): string {
  return `accounts/${String(account)}/workers/domains/${id}`;
}

function outputsOf(answer: Answer, { accountId: account }: Properties): Properties {
  return { ...fromWire(outputs, resultOf(answer) as Properties), accountId: account };
}
