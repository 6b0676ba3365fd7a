import { z } from "zod";
import { UserError } from "../../clients/errors.ts";
import { waitFor } from "../../clients/retry.ts";
import { checkInputs, hasUnknown, type Provider } from "../../providers/provider.ts";
import { configure, railway } from "./client/client.ts";
import { readCustomDomain } from "./customDomain.api.ts";
import { text } from "./inputs.schema.ts";

export interface CustomDomainVerificationState {
  projectId: string;
  customDomainId: string;
  domain: string;
  timeoutSeconds?: number;
}

const TIMEOUT_SECONDS = 900;

const schema = z.object({
  projectId: text,
  customDomainId: text,
  domain: text,
  timeoutSeconds: z
    .int({ error: "must be a whole number of seconds" })
    .min(1, { error: "must be 1 or more" })
    .optional(),
});

async function untilVerified(inputs: CustomDomainVerificationState): Promise<void> {
  const { customDomainId, projectId, domain, timeoutSeconds = TIMEOUT_SECONDS } = inputs;
  const place = { projectId, domain, environmentId: "", serviceId: "" };
  await waitFor(
    async () => {
      const live = await readCustomDomain(railway(), customDomainId, place);
      if (live === undefined) throw new UserError(`Railway has no domain "${domain}" any more. Run the command again.`);
      if (live.status.verified) return { value: true };
      const records = live.status.dnsRecords.map(({ fqdn, requiredValue }) => `${fqdn} -> ${requiredValue}`);
      return { waiting: `it has not seen ${records.join(", ") || "its records"} yet` };
    },
    {
      what: `Railway to verify ${domain}`,
      deadlineSeconds: timeoutSeconds,
      everyMilliseconds: 5_000,
      remedy: "Look at the zone's records and at the domain on railway.com, then run the command again.",
    },
  );
}

const provider: Provider<CustomDomainVerificationState> = {
  configure,

  async check(_olds, news) {
    return checkInputs(schema, news);
  },

  async diff(_id, olds, news) {
    const isAnother = olds.customDomainId !== news.customDomainId || olds.domain !== news.domain;
    return { changes: hasUnknown(news) || isAnother };
  },

  async create(inputs) {
    await untilVerified(inputs);
    return { id: inputs.customDomainId, outs: inputs };
  },

  async read(id, props) {
    return { id, props };
  },

  async update(_id, _olds, news) {
    await untilVerified(news);
    return { outs: news };
  },

  async delete() {},
};

export default provider;
