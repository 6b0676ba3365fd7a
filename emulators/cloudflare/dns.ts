import { randomBytes } from "node:crypto";
import { isIPv4, isIPv6 } from "node:net";
import type { Zone } from "./account.ts";
import { isoSeconds, readObject, type ApiCall, type Route } from "./call.ts";
import type { DnsRecord } from "./dnsRecords.ts";
import { CloudflareError, noRoute } from "./errors.ts";

const read = ["DNS Read", "DNS Write"] as const;
const write = ["DNS Write"] as const;
const records = "/zones/:zone/dns_records";

export const dnsRoutes: readonly Route[] = [
  {
    name: "ListZones",
    method: "GET",
    path: "/zones",
    permissions: ["Zone Read", ...read],
    handle: ({ account, query }) =>
      account.zones
        .filter(({ name }) => [null, name].includes(query.get("name")))
        .map((zone) => showZone(zone, account.id)),
  },
  {
    name: "GetZone",
    method: "GET",
    path: "/zones/:zone",
    permissions: ["Zone Read", ...read],
    handle: (call) => showZone(requireZone(call), call.account.id),
  },
  { name: "CreateDnsRecord", method: "POST", path: records, permissions: write, handle: createRecord },
  { name: "ListDnsRecords", method: "GET", path: records, permissions: read, handle: listRecords },
  { name: "GetDnsRecord", method: "GET", path: `${records}/:record`, permissions: read, handle: requireRecord },
  { name: "UpdateDnsRecord", method: "PUT", path: `${records}/:record`, permissions: write, handle: updateRecord },
  { name: "DeleteDnsRecord", method: "DELETE", path: `${records}/:record`, permissions: write, handle: deleteRecord },
];

const fields = ["comment", "content", "name", "priority", "proxied", "settings", "tags", "ttl", "type"] as const;
/** What kinds of content there are a check for; others are taken as they come. */
const contents: Record<string, (content: string) => boolean> = {
  A: isIPv4,
  AAAA: isIPv6,
  CNAME: isHostName,
};
const types = [...Object.keys(contents), "CAA", "MX", "NS", "SRV", "TXT"];

function createRecord(call: ApiCall): DnsRecord {
  const id = randomBytes(16).toString("hex");
  return saveRecord(call, { id, created_on: isoSeconds(call.now) });
}

function updateRecord(call: ApiCall): DnsRecord {
  const { id, created_on } = requireRecord(call);
  return saveRecord(call, { id, created_on });
}

function deleteRecord(call: ApiCall): object {
  const { id } = requireRecord(call);
  call.account.dnsRecords.delete(id);
  return { id };
}

function listRecords(call: ApiCall): DnsRecord[] {
  const { query } = call;
  const wanted = (record: DnsRecord): boolean =>
    ["name", "type", "content"].every((field) => [null, record[field]].includes(query.get(field)));
  return call.account.dnsRecords.list(requireZone(call).id).filter(wanted);
}

function saveRecord(call: ApiCall, { id, created_on }: { id: string; created_on: unknown }): DnsRecord {
  const zone = requireZone(call);
  const given = readObject(call, fields);
  const { name, type, content, ttl = 1, proxied = false, settings = {}, comment = null, tags = [], priority } = given;
  if (typeof name !== "string" || !isHostName(name)) throw invalid("DNS name is invalid.");
  if (name !== zone.name && !name.endsWith(`.${zone.name}`)) throw invalid(`DNS name must end with ${zone.name}.`);
  if (typeof type !== "string" || !types.includes(type)) throw invalid(`DNS type "${String(type)}" is invalid.`);
  if (typeof content !== "string" || contents[type]?.(content) === false) {
    throw new CloudflareError(400, 9005, `Content for ${type} record is invalid.`);
  }
  if (!Number.isInteger(ttl) || (ttl !== 1 && ((ttl as number) < 60 || (ttl as number) > 86_400)))
    throw invalid("TTL must be between 60 and 86400 seconds, or 1 for Automatic.");
  const proxiable = Object.hasOwn(contents, type);
  if (proxied === true && !proxiable) throw new CloudflareError(400, 9004, "This record type cannot be proxied.");
  const record = {
    id,
    proxiable,
    proxied,
    settings,
    meta: {},
    comment,
    tags,
    created_on,
    modified_on: isoSeconds(call.now),
    content,
    name,
    ...(priority !== undefined && { priority }),
    ttl,
    type,
  };
  refuseConflict(call, zone, record);
  call.account.dnsRecords.save(zone.id, record);
  return record;
}

function refuseConflict({ account }: ApiCall, zone: Zone, { id, name, type, content }: DnsRecord): void {
  const others = account.dnsRecords.list(zone.id).filter((record) => record.name === name && record.id !== id);
  if (others.some((record) => record.type === type && record.content === content))
    throw new CloudflareError(400, 81058, "An identical record already exists.");
  const isAddress = (each: string): boolean => Object.hasOwn(contents, each);
  const conflicting = others.some((record) => isAddress(record.type) && [type, record.type].includes("CNAME"));
  if (conflicting && isAddress(type))
    throw new CloudflareError(400, 81053, "An A, AAAA, or CNAME record with that host already exists.");
}

function requireRecord(call: ApiCall): DnsRecord {
  const record = call.account.dnsRecords.find(requireZone(call).id, call.parameters["record"] ?? "");
  if (record === undefined) throw new CloudflareError(404, 81044, "Record does not exist.");
  return record;
}

function requireZone({ account, parameters: { zone = "" } }: ApiCall): Zone {
  const found = account.zones.find(({ id }) => id === zone);
  if (found === undefined) throw noRoute(`/zones/${zone}`);
  return found;
}

function showZone({ id, name }: Zone, accountId: string): object {
  return { id, name, status: "active", paused: false, type: "full", account: { id: accountId } };
}

function isHostName(name: string): boolean {
  return name.length <= 253 && /^(\*\.)?([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z]{2,63}$/i.test(name);
}

function invalid(message: string): CloudflareError {
  return new CloudflareError(400, 9000, message);
}
