import { z } from "zod";
import { UserError } from "../../clients/errors.ts";
import { waitFor } from "../../clients/retry.ts";
import { checkInputs, hasUnknown, PartialFailure, type Provider } from "../../providers/provider.ts";
import { configure, railway, type Railway } from "./client/client.ts";
import { port, servicePlace, type ServicePlace } from "./inputs.schema.ts";
import * as api from "./serviceDomain.api.ts";

export interface ServiceDomainInputs extends ServicePlace {
  targetPort?: number;
  subdomain?: string;
}

export interface ServiceDomainOutputs extends ServiceDomainInputs {
  domain: string;
}

const schema = z.object({
  ...servicePlace,
  targetPort: port.optional(),
  subdomain: z
    .string({ error: "must be a text" })
    .regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/, { error: "must be a label of a-z, 0-9 and - (lakekeeper-prod)" })
    .optional(),
});

const provider: Provider<ServiceDomainInputs, ServiceDomainOutputs> = {
  configure,

  async check(_olds, news) {
    return checkInputs(schema, news);
  },

  async diff(_id, olds, news) {
    if (hasUnknown(news)) return { changes: true };
    const replaces = (["projectId", "environmentId", "serviceId"] as const).filter((name) => olds[name] !== news[name]);
    const changes =
      replaces.length > 0 ||
      olds.targetPort !== news.targetPort ||
      (news.subdomain !== undefined && labelOf(olds.domain) !== news.subdomain);
    return { changes, replaces };
  },

  async create(inputs) {
    const client = railway();
    const [there] = (await api.listDomains(client, inputs)) ?? [];
    if (there !== undefined) console.log(`adopting the domain ${there.domain}, which the service has already`);
    const live = there ?? (await api.createDomain(client, inputs, inputs.targetPort));
    return { id: live.id, outs: await converge(client, live, inputs) };
  },

  async read(id, props) {
    const live = (await api.listDomains(railway(), props))?.find((one) => one.id === id);
    return live === undefined ? {} : { id, props: observed(props, live) };
  },

  async update(id, olds, news) {
    const client = railway();
    const live = (await api.listDomains(client, news))?.find((one) => one.id === id);
    if (live === undefined) {
      throw new UserError(
        `The domain ${olds.domain} (${id}) is gone, so it cannot be changed. Run \`pulumi up --refresh\`, which makes a new one.`,
      );
    }
    return { outs: await converge(client, live, news) };
  },

  async delete(id, props) {
    await api.deleteDomain(railway(), props, id);
  },
};

export default provider;

/** Waits until Railway serves a domain and brings it to its port and name; a failure keeps the one that there is. */
async function converge(
  client: Railway,
  live: api.LiveDomain,
  inputs: ServiceDomainInputs,
): Promise<ServiceDomainOutputs> {
  const { targetPort, subdomain } = inputs;
  const wanted = subdomain === undefined ? live.domain : `${subdomain}.${live.suffix ?? suffixOf(live.domain)}`;
  try {
    await awaitActive(client, live, inputs);
    if (wanted !== live.domain || (live.targetPort ?? undefined) !== targetPort) {
      await api.updateDomain(client, inputs, { id: live.id, domain: wanted, targetPort });
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new PartialFailure(live.id, observed(inputs, live), [error.message]);
  }
  return { ...inputs, domain: wanted };
}

async function awaitActive(client: Railway, live: api.LiveDomain, inputs: ServiceDomainInputs): Promise<void> {
  let status = live.syncStatus;
  await waitFor(
    async () => {
      if (status === "ACTIVE") return { value: true };
      status = (await api.listDomains(client, inputs))?.find(({ id }) => id === live.id)?.syncStatus ?? status;
      return status === "ACTIVE" ? { value: true } : { waiting: `it is ${status}` };
    },
    {
      what: `the domain ${live.domain} to be active`,
      deadlineSeconds: 60,
      remedy: "Running the command again continues from here.",
    },
  );
}

/** The inputs with the port and the name that the domain has. */
function observed(inputs: ServiceDomainInputs, { domain, targetPort }: api.LiveDomain): ServiceDomainOutputs {
  const outs: ServiceDomainOutputs = { ...inputs, domain };
  if (targetPort == null) delete outs.targetPort;
  else outs.targetPort = targetPort;
  return outs;
}

function labelOf(domain: string): string {
  return domain.split(".")[0] ?? "";
}

function suffixOf(domain: string): string {
  return domain.slice(domain.indexOf(".") + 1);
}
