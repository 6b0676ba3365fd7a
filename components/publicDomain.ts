import { DnsRecord } from "@pulumi/cloudflare/dnsRecord.js";
import * as pulumi from "@pulumi/pulumi";
import * as railway from "@pulumiverse/railway";
import { after } from "../providers/after.ts";

/** Cloudflare's word for "as it sees fit", in seconds. */
const TTL_AUTOMATIC = 1;

export interface PublicDomainArgs {
  readonly projectId: pulumi.Input<string>;
  readonly environmentId: pulumi.Input<string>;
  readonly serviceId: pulumi.Input<string>;
  readonly targetPort: number;
  /** `catalog.example.com`. */
  readonly domain: string;
  /** Id of its zone at Cloudflare. */
  readonly zoneId: string;
}

/** A domain of one's own for a service on Railway, with the records in its zone at Cloudflare that Railway asks for. */
export class PublicDomain extends pulumi.ComponentResource {
  /** `https://catalog.example.com`, once Railway has verified it. */
  readonly uri: pulumi.Output<string>;

  constructor(name: string, args: PublicDomainArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakekeeper:index:PublicDomain", name, {}, opts);
    const { zoneId, domain, ...place } = args;
    const parent = { parent: this };
    const custom = new railway.CustomDomain(name, { ...place, domain }, parent);
    const traffic = new DnsRecord(
      `${name}-cname`,
      {
        ...{ zoneId, name: domain, type: "CNAME", ttl: TTL_AUTOMATIC },
        // Cloudflare's own proxy would end TLS before Railway can.
        proxied: false,
        content: custom.dnsRecords.apply((records) => records.find(({ type }) => type === "CNAME")?.value ?? ""),
      },
      parent,
    );
    const ownership = new DnsRecord(
      `${name}-txt`,
      {
        ...{ zoneId, type: "TXT", ttl: TTL_AUTOMATIC },
        name: custom.verificationHost.apply((host) => host ?? `_railway-verify.${domain}`),
        content: custom.verificationToken.apply((token) => JSON.stringify(token ?? "")),
      },
      parent,
    );
    const verified = new railway.CustomDomainVerification(
      `${name}-verified`,
      { projectId: args.projectId, customDomainId: custom.id, domain },
      { ...parent, dependsOn: [traffic, ownership] },
    );
    this.uri = after(verified, `https://${domain}`);
    this.registerOutputs({ uri: this.uri });
  }
}
