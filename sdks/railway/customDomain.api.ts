import { z } from "zod";
import type { Operation, Railway } from "./client/client.ts";
import { unlessGone } from "./client/errors.ts";
import { makeOnce } from "./client/makeOnce.ts";
import type { ServicePlace } from "./inputs.schema.ts";

export interface CustomDomainPlace extends ServicePlace {
  readonly domain: string;
}

const FIELDS = `
  id domain environmentId serviceId targetPort syncStatus deletedAt
  status {
    verified verificationDnsHost verificationToken
    dnsRecords { fqdn zone recordType requiredValue }
  }`;
const customDomain = z.object({
  id: z.string(),
  domain: z.string(),
  environmentId: z.string(),
  serviceId: z.string(),
  targetPort: z.number().nullish(),
  syncStatus: z.string(),
  deletedAt: z.string().nullish(),
  status: z.object({
    verified: z.boolean(),
    verificationDnsHost: z.string().nullish(),
    verificationToken: z.string().nullish(),
    dnsRecords: z.array(
      z.object({ fqdn: z.string(), zone: z.string(), recordType: z.string(), requiredValue: z.string() }),
    ),
  }),
});
export type LiveCustomDomain = z.infer<typeof customDomain>;

const one: Operation<{ customDomain: LiveCustomDomain }> = {
  document: `query customDomain($id: String!, $projectId: String!) {
    customDomain(id: $id, projectId: $projectId) { ${FIELDS} }
  }`,
  data: z.object({ customDomain }),
};
const list: Operation<{ domains: { customDomains: LiveCustomDomain[] } }> = {
  document: `query domains($projectId: String!, $environmentId: String!, $serviceId: String!) {
    domains(projectId: $projectId, environmentId: $environmentId, serviceId: $serviceId) {
      customDomains { ${FIELDS} }
    }
  }`,
  data: z.object({ domains: z.object({ customDomains: z.array(customDomain) }) }),
};
const available: Operation<{ customDomainAvailable: { available: boolean; message: string } }> = {
  document: `query customDomainAvailable($domain: String!) {
    customDomainAvailable(domain: $domain) { available message }
  }`,
  data: z.object({ customDomainAvailable: z.object({ available: z.boolean(), message: z.string() }) }),
};
const create: Operation<{ customDomainCreate: LiveCustomDomain }> = {
  document: `mutation customDomainCreate($input: CustomDomainCreateInput!) {
    customDomainCreate(input: $input) { ${FIELDS} }
  }`,
  data: z.object({ customDomainCreate: customDomain }),
};
const update: Operation<{ customDomainUpdate: boolean }> = {
  document: `mutation customDomainUpdate($id: String!, $environmentId: String!, $targetPort: Int) {
    customDomainUpdate(id: $id, environmentId: $environmentId, targetPort: $targetPort)
  }`,
  data: z.object({ customDomainUpdate: z.boolean() }),
};
const remove: Operation<{ customDomainDelete: boolean }> = {
  document: "mutation customDomainDelete($id: String!) { customDomainDelete(id: $id) }",
  data: z.object({ customDomainDelete: z.boolean() }),
};

const of = (domain: string) => ({ of: `domain "${domain}"` });

/** Undefined when it, or its project, is certainly gone. */
export async function readCustomDomain(
  client: Railway,
  id: string,
  { projectId, domain }: CustomDomainPlace,
): Promise<LiveCustomDomain | undefined> {
  const found = await unlessGone(client.query(one, { id, projectId }, of(domain)));
  return found !== undefined && isThere(found.customDomain) ? found.customDomain : undefined;
}

/** The domain of this name that the service has. It may take a moment to show up. */
export async function findCustomDomain(
  client: Railway,
  { projectId, environmentId, serviceId, domain }: CustomDomainPlace,
): Promise<LiveCustomDomain | undefined> {
  const { domains } = await client.query(list, { projectId, environmentId, serviceId }, of(domain));
  return domains.customDomains.find((candidate) => candidate.domain === domain && isThere(candidate));
}

/** Why nobody can have it, in Railway's words; undefined when it is free. */
export async function unavailability(client: Railway, domain: string): Promise<string | undefined> {
  const { customDomainAvailable: answer } = await client.query(available, { domain }, of(domain));
  return answer.available ? undefined : answer.message;
}

export async function createCustomDomain(
  client: Railway,
  place: CustomDomainPlace,
  targetPort: number | undefined,
): Promise<LiveCustomDomain> {
  const { projectId, environmentId, serviceId, domain } = place;
  const input = { projectId, environmentId, serviceId, domain, targetPort };
  return makeOnce(
    async () => (await client.mutateOnce(create, { input }, of(domain))).customDomainCreate,
    () => findCustomDomain(client, place),
  );
}

export async function updateCustomDomain(
  client: Railway,
  id: string,
  { environmentId, domain }: CustomDomainPlace,
  targetPort: number | undefined,
): Promise<void> {
  // Null takes the port away; left out, it would stay.
  await client.mutateRepeatably(update, { id, environmentId, targetPort: targetPort ?? null }, of(domain));
}

/** Finding it gone is success. */
export async function deleteCustomDomain(client: Railway, id: string, domain: string): Promise<void> {
  await unlessGone(client.mutateRepeatably(remove, { id }, of(domain)));
}

function isThere({ deletedAt, syncStatus }: LiveCustomDomain): boolean {
  return deletedAt == null && !["DELETING", "DELETED"].includes(syncStatus);
}
