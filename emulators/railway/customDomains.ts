import type { Domain } from "./model.ts";

/** What the DNS says: the values of a name's records of one type, texts without their quotes. */
export type Lookup = (name: string, type: "CNAME" | "TXT") => Promise<readonly string[]>;

/** The records that Railway wants of a custom domain: where its traffic goes, and whose it is. */
export function recordsOf({ id, domain }: Domain): Record<"traffic" | "ownership", { name: string; value: string }> {
  return {
    traffic: { name: domain, value: `${id.slice(0, 8)}.up.railway.app` },
    ownership: { name: `_railway-verify.${domain}`, value: `railway-verify=${id.replaceAll("-", "")}` },
  };
}

/** Whether both are there, and lead nowhere else. */
export async function hasRecords(domain: Domain, lookup: Lookup): Promise<boolean> {
  const { traffic, ownership } = recordsOf(domain);
  const [targets, texts] = await Promise.all([lookup(traffic.name, "CNAME"), lookup(ownership.name, "TXT")]);
  return targets.length === 1 && targets[0] === traffic.value && texts.includes(ownership.value);
}
