import { z } from "zod";
import type { Operation, Railway } from "./client/client.ts";
import { unlessGone } from "./client/errors.ts";

const created = z.object({ id: z.string(), name: z.string() });

const create: Operation<{ serviceCreate: z.infer<typeof created> }> = {
  document: "mutation serviceCreate($input: ServiceCreateInput!) { serviceCreate(input: $input) { id name } }",
  data: z.object({ serviceCreate: created }),
};
const update: Operation<{ serviceUpdate: z.infer<typeof created> }> = {
  document: `mutation serviceUpdate($id: String!, $input: ServiceUpdateInput!) {
    serviceUpdate(id: $id, input: $input) { id name }
  }`,
  data: z.object({ serviceUpdate: created }),
};
const updateInstance: Operation<{ serviceInstanceUpdate: boolean }> = {
  document: `mutation serviceInstanceUpdate($serviceId: String!, $environmentId: String!, $input: ServiceInstanceUpdateInput!) {
    serviceInstanceUpdate(serviceId: $serviceId, environmentId: $environmentId, input: $input)
  }`,
  data: z.object({ serviceInstanceUpdate: z.boolean() }),
};
const updateLimits: Operation<{ serviceInstanceLimitsUpdate: boolean }> = {
  document: `mutation serviceInstanceLimitsUpdate($input: ServiceInstanceLimitsUpdateInput!) {
    serviceInstanceLimitsUpdate(input: $input)
  }`,
  data: z.object({ serviceInstanceLimitsUpdate: z.boolean() }),
};
const remove: Operation<{ serviceDelete: boolean }> = {
  document: `mutation serviceDelete($id: String!, $environmentId: String!) {
    serviceDelete(id: $id, environmentId: $environmentId)
  }`,
  data: z.object({ serviceDelete: z.boolean() }),
};

/** Which service, in which environment. */
export interface ServicePlace {
  readonly serviceId: string;
  readonly environmentId: string;
  /** For messages. */
  readonly name: string;
}

const of = (name: string) => ({ of: `service "${name}"` });

/** Without a source: with one, Railway deploys at once, before there are settings, variables or a volume. */
export async function createService(
  client: Railway,
  input: { name: string; projectId: string; environmentId: string; icon?: string | undefined },
): Promise<{ id: string }> {
  return (await client.mutateOnce(create, { input }, of(input.name))).serviceCreate;
}

export async function updateService(
  client: Railway,
  id: string,
  input: { name: string; icon: string | null },
): Promise<void> {
  await client.mutateRepeatably(update, { id, input }, of(input.name));
}

/** Deploys nothing. Railway answers false where nothing has changed, which is fine. */
export async function updateServiceInstance(
  client: Railway,
  { serviceId, environmentId, name }: ServicePlace,
  input: object,
): Promise<void> {
  await client.mutateRepeatably(updateInstance, { serviceId, environmentId, input }, of(name));
}

/** @param limits null takes a limit away. */
export async function updateServiceLimits(
  client: Railway,
  { serviceId, environmentId, name }: ServicePlace,
  limits: { memoryGB: number | null; vCPUs: number | null },
): Promise<void> {
  await client.mutateRepeatably(updateLimits, { input: { serviceId, environmentId, ...limits } }, of(name));
}

/** Finding it gone is success. */
export async function deleteService(client: Railway, { serviceId, environmentId, name }: ServicePlace): Promise<void> {
  await unlessGone(client.mutateRepeatably(remove, { id: serviceId, environmentId }, of(name)));
}
