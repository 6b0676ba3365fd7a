import { z } from "zod";
import { UserError } from "../../clients/errors.ts";
import { waitFor } from "../../clients/retry.ts";
import { checkInputs, hasUnknown, PartialFailure, type Provider } from "../../providers/provider.ts";
import { configure, railway, type Railway } from "./client/client.ts";
import { isRailwayError } from "./client/errors.ts";
import * as api from "./customDomain.api.ts";
import type { DnsRecord } from "./customDomain.ts";
import { port, servicePlace, text } from "./inputs.schema.ts";

export interface CustomDomainInputs extends api.CustomDomainPlace {
  targetPort?: number;
}

export interface CustomDomainOutputs extends CustomDomainInputs {
  dnsRecords: DnsRecord[];
  verificationHost?: string;
  verificationToken?: string;
  verified: boolean;
}

const DOMAIN = /^(\*\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]$/;
/** What was made a moment ago does not show up at once: how long it is looked for, in seconds. */
const SHOWS_WITHIN = 10;

const schema = z.object({
  ...servicePlace,
  domain: text
    .max(253, { error: "must be a domain of at most 253 characters" })
    .regex(DOMAIN, { error: "must be a domain in small letters, without a scheme (catalog.example.com)" }),
  targetPort: port.optional(),
});

const provider: Provider<CustomDomainInputs, CustomDomainOutputs> = {
  configure,

  async check(_olds, news) {
    return checkInputs(schema, news);
  },

  async diff(_id, olds, news) {
    if (hasUnknown(news)) return { changes: true };
    const replaces = (["projectId", "environmentId", "serviceId", "domain"] as const).filter(
      (name) => olds[name] !== news[name],
    );
    const changes = replaces.length > 0 || olds.targetPort !== news.targetPort;
    // A domain is at one service only, so that it must leave one to come to another.
    return { changes, replaces, deleteBeforeReplace: replaces.length > 0 && olds.domain === news.domain };
  },

  async create(inputs) {
    const client = railway();
    const live = await findOrCreate(client, inputs);
    return { id: live.id, outs: await converge(client, live, inputs) };
  },

  async read(id, props) {
    const live = await api.readCustomDomain(railway(), id, props);
    return live === undefined ? {} : { id, props: observed(props, live) };
  },

  async update(id, _olds, news) {
    const client = railway();
    const live = await api.readCustomDomain(client, id, news);
    if (live === undefined) {
      throw new UserError(
        `Railway domain "${news.domain}" (${id}) is gone, so it cannot be changed. Run \`pulumi up --refresh\`, which makes a new one.`,
      );
    }
    return { outs: await converge(client, live, news) };
  },

  async delete(id, props) {
    await api.deleteCustomDomain(railway(), id, props.domain);
  },
};

export default provider;

async function findOrCreate(client: Railway, inputs: CustomDomainInputs): Promise<api.LiveCustomDomain> {
  const there = await api.findCustomDomain(client, inputs);
  if (there !== undefined) return adopted(there);
  const taken = await api.unavailability(client, inputs.domain);
  if (taken !== undefined) return shown(client, inputs, taken);
  return api.createCustomDomain(client, inputs, inputs.targetPort).catch((error: unknown) => {
    if (!isRailwayError(error, "conflict")) throw error;
    return shown(client, inputs, error.message);
  });
}

/** A domain that is taken: by its service, where a run that was cut off has just made it, or by somebody else. */
async function shown(client: Railway, inputs: CustomDomainInputs, taken: string): Promise<api.LiveCustomDomain> {
  const live = await waitFor(
    async () => {
      const found = await api.findCustomDomain(client, inputs);
      return found === undefined ? { waiting: taken } : { value: found };
    },
    {
      what: `domain "${inputs.domain}", which Railway has already, to show up at service ${inputs.serviceId}`,
      deadlineSeconds: SHOWS_WITHIN,
      remedy: "Remove it on railway.com where it is now, or choose another one.",
    },
  );
  return adopted(live);
}

function adopted(live: api.LiveCustomDomain): api.LiveCustomDomain {
  console.warn(`adopting the domain "${live.domain}" (${live.id}), which the service has already`);
  return live;
}

/** Brings a domain to its port and waits until it has its records; a failure keeps what has been reached. */
async function converge(
  client: Railway,
  before: api.LiveCustomDomain,
  inputs: CustomDomainInputs,
): Promise<CustomDomainOutputs> {
  let live = before;
  try {
    const { targetPort } = inputs;
    if ((live.targetPort ?? undefined) !== targetPort) {
      await api.updateCustomDomain(client, live.id, inputs, targetPort);
      live = { ...live, targetPort };
    }
    live = await waitFor(
      async () => {
        if (live.status.dnsRecords.length > 0 || live.status.verified) return { value: live };
        live = (await api.readCustomDomain(client, live.id, inputs)) ?? live;
        return { waiting: "Railway does not say them yet" };
      },
      {
        what: `the DNS records of domain "${inputs.domain}"`,
        deadlineSeconds: 60,
        remedy: "Running the command again continues from here.",
      },
    );
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new PartialFailure(live.id, observed(inputs, live), [error.message]);
  }
  return observed(inputs, live);
}

/** The inputs as the domain has them, and what its zone must have. */
function observed(
  { projectId }: CustomDomainInputs,
  { environmentId, serviceId, domain, targetPort, status }: api.LiveCustomDomain,
): CustomDomainOutputs {
  const { verified, verificationDnsHost: host, verificationToken, dnsRecords } = status;
  const zone = dnsRecords[0]?.zone ?? domain;
  const verification = host != null && verificationToken != null && { host: inZone(host, zone), verificationToken };
  const records = dnsRecords.map(({ fqdn, recordType, requiredValue }) => ({
    type: recordType.replace("DNS_RECORD_TYPE_", "") as DnsRecord["type"],
    name: fqdn,
    value: requiredValue,
  }));
  return {
    projectId,
    environmentId,
    serviceId,
    domain,
    ...(targetPort != null && { targetPort }),
    dnsRecords: withProof(records, verification),
    ...(verification && { verificationHost: verification.host, verificationToken: verification.verificationToken }),
    verified,
  };
}

/** Railway tells the proof of ownership apart from the other records. */
function withProof(records: DnsRecord[], proof: false | { host: string; verificationToken: string }): DnsRecord[] {
  if (!proof || records.some(({ type, name }) => type === "TXT" && name === proof.host)) return records;
  return [...records, { type: "TXT", name: proof.host, value: proof.verificationToken }];
}

/** A name in full, which may be given as a label of its zone. */
function inZone(name: string, zone: string): string {
  return name === zone || name.endsWith(`.${zone}`) ? name : `${name}.${zone}`;
}
