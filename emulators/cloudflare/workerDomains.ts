import { randomUUID } from "node:crypto";
import { readObject, type ApiCall, type Route } from "./call.ts";
import { CloudflareError, invalidBody } from "./errors.ts";
import type { Script, WorkerDomain } from "./workers.ts";

const domains = "/accounts/:account/workers/domains";
const read = ["Workers Scripts Read", "Workers Scripts Write"] as const;
const write = ["Workers Scripts Write"] as const;

/**
 * Host names of zones of the account that lead to a Worker. Fields are those of Cloudflare's documentation; it does not
 * tell the codes of refusals, but for a host name that DNS records lead elsewhere, which is as `wrangler` shows it.
 */
export const workerDomainRoutes: readonly Route[] = [
  { name: "ListWorkerDomains", method: "GET", path: domains, permissions: read, handle: list },
  { name: "AttachWorkerDomain", method: "PUT", path: domains, permissions: write, handle: attach },
  {
    name: "GetWorkerDomain",
    method: "GET",
    path: `${domains}/:domain`,
    permissions: read,
    handle: (call) => show(...requireDomain(call)),
  },
  { name: "DetachWorkerDomain", method: "DELETE", path: `${domains}/:domain`, permissions: write, handle: detach },
];

function list({ account, query }: ApiCall): object[] {
  const hostname = query.get("hostname");
  return account.workers
    .all()
    .flatMap((script) => script.domains.map((domain) => show(script, domain)))
    .filter((one) => hostname === null || one.hostname === hostname);
}

function attach(call: ApiCall): object {
  const { account } = call;
  const {
    hostname,
    service,
    zone_id,
    zone_name,
    environment = "production",
  } = readObject(call, [...(["hostname", "service", "zone_id", "zone_name", "environment"] as const)]);
  if (typeof hostname !== "string" || typeof service !== "string") throw invalidBody("hostname and service are texts");
  if (environment !== "production") throw invalidBody(`there is no environment ${JSON.stringify(environment)}`);
  const script = account.workers.find(service);
  if (script === undefined) throw new CloudflareError(404, 10007, "This Worker does not exist on your account.");
  const zone = account.zones.find(
    ({ id, name }) =>
      (hostname === name || hostname.endsWith(`.${name}`)) &&
      [id, undefined].includes(zone_id as string | undefined) &&
      [name, undefined].includes(zone_name as string | undefined),
  );
  if (zone === undefined) throw new CloudflareError(400, 10082, `${hostname} is in no zone of your account.`);
  const isTaken = account.dnsRecords
    .list(zone.id)
    .some(({ name, type }) => name === hostname && ["A", "AAAA", "CNAME"].includes(type));
  if (isTaken) {
    throw new CloudflareError(
      409,
      100117,
      "Hostname already has externally managed DNS records (A, CNAME, etc). Either delete them, try a different hostname, or use the option 'override_existing_dns_record' to override.",
    );
  }
  const before = account.workers.attachedTo(hostname);
  const known = before?.domains.find((one) => one.hostname === hostname);
  const domain = known ?? { id: randomUUID().replaceAll("-", ""), hostname, zoneId: zone.id, zoneName: zone.name };
  // A host name leads to one Worker: to the last one that it was given.
  if (before !== undefined) account.workers.save(without(before, hostname));
  const current = account.workers.find(service) ?? script;
  const attached = { ...current, domains: [...current.domains, domain] };
  account.workers.save(attached);
  return show(attached, domain);
}

function detach(call: ApiCall): null {
  const [script, { hostname }] = requireDomain(call);
  call.account.workers.save(without(script, hostname));
  return null;
}

function without(script: Script, hostname: string): Script {
  return { ...script, domains: script.domains.filter((one) => one.hostname !== hostname) };
}

function requireDomain({ account, parameters }: ApiCall): [Script, WorkerDomain] {
  for (const script of account.workers.all()) {
    const domain = script.domains.find(({ id }) => id === parameters["domain"]);
    if (domain !== undefined) return [script, domain];
  }
  throw new CloudflareError(404, 10007, "This Worker domain does not exist on your account.");
}

function show({ name }: Script, { id, hostname, zoneId, zoneName }: WorkerDomain) {
  return { id, hostname, service: name, environment: "production", zone_id: zoneId, zone_name: zoneName };
}
