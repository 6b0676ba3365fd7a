import { z } from "zod";
import type { Operation, Railway } from "./client/client.ts";
import { unlessGone } from "./client/errors.ts";
import { makeOnce } from "./client/makeOnce.ts";
import type { ServicePlace } from "./inputs.schema.ts";

const FIELDS = "id domain suffix targetPort syncStatus deletedAt";
const domain = z.object({
  id: z.string(),
  domain: z.string(),
  suffix: z.string().nullish(),
  targetPort: z.number().nullish(),
  syncStatus: z.string(),
  deletedAt: z.string().nullish(),
});
export type LiveDomain = z.infer<typeof domain>;

const list: Operation<{ domains: { serviceDomains: LiveDomain[] } }> = {
  document: `query domains($projectId: String!, $environmentId: String!, $serviceId: String!) {
    domains(projectId: $projectId, environmentId: $environmentId, serviceId: $serviceId) {
      serviceDomains { ${FIELDS} }
    }
  }`,
  data: z.object({ domains: z.object({ serviceDomains: z.array(domain) }) }),
};
const create: Operation<{ serviceDomainCreate: LiveDomain }> = {
  document: `mutation serviceDomainCreate($input: ServiceDomainCreateInput!) {
    serviceDomainCreate(input: $input) { ${FIELDS} }
  }`,
  data: z.object({ serviceDomainCreate: domain }),
};
const update: Operation<{ serviceDomainUpdate: boolean }> = {
  document: "mutation serviceDomainUpdate($input: ServiceDomainUpdateInput!) { serviceDomainUpdate(input: $input) }",
  data: z.object({ serviceDomainUpdate: z.boolean() }),
};
const remove: Operation<{ serviceDomainDelete: boolean }> = {
  document: "mutation serviceDomainDelete($id: String!) { serviceDomainDelete(id: $id) }",
  data: z.object({ serviceDomainDelete: z.boolean() }),
};

const of = ({ serviceId }: ServicePlace) => ({ of: `the domain of service ${serviceId}` });

/** Those that are not deleted, oldest first; undefined when the service itself is gone. */
export async function listDomains(client: Railway, place: ServicePlace): Promise<LiveDomain[] | undefined> {
  const { projectId, environmentId, serviceId } = place;
  const found = await unlessGone(client.query(list, { projectId, environmentId, serviceId }, of(place)));
  return found?.domains.serviceDomains.filter(
    ({ deletedAt, syncStatus }) => deletedAt == null && !["DELETING", "DELETED"].includes(syncStatus),
  );
}

/** Each call makes another one, so that after an open outcome it is looked for. */
export async function createDomain(
  client: Railway,
  place: ServicePlace,
  targetPort: number | undefined,
): Promise<LiveDomain> {
  const { environmentId, serviceId } = place;
  const input = { environmentId, serviceId, targetPort };
  return makeOnce(
    async () => (await client.mutateOnce(create, { input }, of(place))).serviceDomainCreate,
    async () => (await listDomains(client, place))?.[0],
  );
}

export async function updateDomain(
  client: Railway,
  place: ServicePlace,
  change: { id: string; domain: string; targetPort: number | undefined },
): Promise<void> {
  const { environmentId, serviceId } = place;
  const { id: serviceDomainId, domain: name, targetPort } = change;
  const input = { environmentId, serviceId, serviceDomainId, domain: name, targetPort: targetPort ?? null };
  await client.mutateRepeatably(update, { input }, of(place));
}

export async function deleteDomain(client: Railway, place: ServicePlace, id: string): Promise<void> {
  await unlessGone(client.mutateRepeatably(remove, { id }, of(place)));
}
