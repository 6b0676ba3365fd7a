import type { Jurisdiction } from "../r2/jurisdictions.ts";
import type { Store } from "../r2/store.ts";
import type { Account } from "../r2/temporaryCredentials.ts";
import type { DnsRecords } from "./dnsRecords.ts";
import type { Workers } from "./workers.ts";

/** All that the API reads and changes: what R2 serves too, and what only Cloudflare has. */
export interface CloudflareAccount extends Account {
  /** Undefined for a jurisdiction that has no endpoint here. */
  storeOf(jurisdiction: Jurisdiction | "default"): Store | undefined;
  workers: Workers;
  /** Domains, such as `example.com`. */
  zones: readonly Zone[];
  dnsRecords: DnsRecords;
}

export interface Zone {
  id: string;
  name: string;
}
