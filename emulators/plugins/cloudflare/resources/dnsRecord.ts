import type { DnsRecordArgs } from "@pulumi/cloudflare/dnsRecord.js";
import type { input } from "@pulumi/cloudflare/types/index.js";
import type { Properties } from "../../protocol.ts";
import { resultOf, type Answer } from "../api.ts";
import { importId } from "../importId.ts";
import type { Resource } from "../resource.ts";
import { fromWire, toWire, type Property, type Schema } from "../schema.ts";

const settings = {
  flattenCname: { type: "boolean", computed: true },
  ipv4Only: { type: "boolean", computed: true },
  ipv6Only: { type: "boolean", computed: true },
} satisfies Record<keyof input.DnsRecordSettings, Property>;

const { zoneId, ...sent } = {
  zoneId: { type: "string", required: true, replaces: true },
  comment: { type: "string" },
  content: { type: "string" },
  data: { type: "unsupported" },
  includeShadowMetadata: { type: "unsupported" },
  name: { type: "string", required: true },
  priority: { type: "number" },
  privateRouting: { type: "unsupported" },
  proxied: { type: "boolean", default: false },
  settings: { type: { object: settings }, computed: true },
  tags: { type: { list: "string" }, computed: true },
  ttl: { type: "number", required: true },
  type: { type: "string", required: true, replaces: true },
} as const satisfies Record<keyof DnsRecordArgs, Property>;

const outputs: Schema = {
  ...sent,
  id: { type: "string" },
  commentModifiedOn: { type: "string" },
  createdOn: { type: "string" },
  // Kept as the text of its JSON.
  meta: { type: "string" },
  modifiedOn: { type: "string" },
  proxiable: { type: "boolean" },
  tagsModifiedOn: { type: "string" },
};

export const dnsRecord: Resource = {
  inputs: { zoneId, ...sent },
  schemaVersion: "500",
  made: ["commentModifiedOn", "createdOn", "id", "meta", "modifiedOn", "proxiable", "tagsModifiedOn"],
  unsettled: (changed, news) => [
    "modifiedOn",
    ...(changed.includes("comment") && news["comment"] !== undefined ? ["commentModifiedOn"] : []),
    ...(changed.includes("tags") ? ["tagsModifiedOn"] : []),
  ],
  async create(api, plan) {
    const path = `zones/${String(plan["zoneId"])}/dns_records`;
    const made = outputsOf(await api.call({ method: "POST", path, body: toWire(sent, plan) }), plan["zoneId"]);
    return { id: String(made["id"]), outputs: made };
  },
  async read(api, state, id) {
    const answer = await api.find({ method: "GET", path: pathOf(state, id) });
    return answer && { id, outputs: outputsOf(answer, state["zoneId"]) };
  },
  imported(id) {
    const [zone, record] = importId("<zone_id>/<dns_record_id>", id);
    return { zoneId: zone, id: record };
  },
  async update(api, plan, state) {
    const path = pathOf(state, String(state["id"]));
    return outputsOf(await api.call({ method: "PUT", path, body: toWire(sent, plan) }), state["zoneId"]);
  },
  async delete(api, state) {
    await api.call({ method: "DELETE", path: pathOf(state, String(state["id"])) });
  },
};

function pathOf(state: Properties, id: string): string {
  return `zones/${String(state["zoneId"])}/dns_records/${id}`;
}

function outputsOf(answer: Answer, zone: unknown): Properties {
  const known = fromWire(outputs, resultOf(answer) as Properties);
  // Only of a CNAME does the plugin fill in what the answer leaves out.
  const off = known["type"] === "CNAME" ? { flattenCname: false, ipv4Only: false, ipv6Only: false } : {};
  return { ...known, settings: { ...off, ...(known["settings"] as Properties | undefined) }, zoneId: zone };
}
