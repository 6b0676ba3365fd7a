import { z } from "zod";
import type { Operation, Railway } from "./client/client.ts";
import { allNodes, connection, PAGE, type Connection } from "./client/pages.ts";
import type { ServicePlace } from "./inputs.schema.ts";

export type Variables = Readonly<Record<string, string>>;

const read: Operation<{ variables: Variables }> = {
  document: `query variables($projectId: String!, $environmentId: String!, $serviceId: String!) {
    variables(projectId: $projectId, environmentId: $environmentId, serviceId: $serviceId, unrendered: true)
  }`,
  data: z.object({ variables: z.record(z.string(), z.string()) }),
};

const variable = z.object({ name: z.string(), isSealed: z.boolean(), serviceId: z.string().nullish() });
const list: Operation<{ environment: { variables: Connection<z.infer<typeof variable>> } }> = {
  document: `query variableNames($environmentId: String!, $projectId: String!, $first: Int!, $after: String) {
    environment(id: $environmentId, projectId: $projectId) {
      variables(first: $first, after: $after) {
        edges { node { name isSealed serviceId } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }`,
  data: z.object({ environment: z.object({ variables: connection(variable) }) }),
};

const upsert: Operation<{ variableCollectionUpsert: boolean }> = {
  document: `mutation variableCollectionUpsert($input: VariableCollectionUpsertInput!) {
    variableCollectionUpsert(input: $input)
  }`,
  data: z.object({ variableCollectionUpsert: z.boolean() }),
};
const remove: Operation<{ variableDelete: boolean }> = {
  document: "mutation variableDelete($input: VariableDeleteInput!) { variableDelete(input: $input) }",
  data: z.object({ variableDelete: z.boolean() }),
};

const of = ({ serviceId }: ServicePlace) => ({ of: `the variables of service ${serviceId}` });

/** All that can be read, references as they were written. Sealed variables never come back. */
export async function readVariables(
  client: Railway,
  { projectId, environmentId, serviceId }: ServicePlace,
): Promise<Variables> {
  const place = { projectId, environmentId, serviceId };
  return (await client.query(read, place, of(place))).variables;
}

/** Names of the variables that somebody has set, and whether they are sealed; without those that Railway provides. */
export async function storedNames(client: Railway, place: ServicePlace): Promise<Map<string, { isSealed: boolean }>> {
  const { projectId, environmentId } = place;
  const all = await allNodes((after) =>
    client
      .query(list, { projectId, environmentId, first: PAGE, after }, of(place))
      .then(({ environment }) => environment.variables),
  );
  return new Map(all.filter(({ serviceId }) => serviceId === place.serviceId).map((item) => [item.name, item]));
}

/** Sets variables without deploying. With `replace` all others are removed. */
export async function upsertVariables(
  client: Railway,
  { projectId, environmentId, serviceId }: ServicePlace,
  variables: Variables,
  replace: boolean,
): Promise<void> {
  const input = { projectId, environmentId, serviceId, variables, replace, skipDeploys: true };
  await client.mutateRepeatably(upsert, { input }, of(input));
}

/** Makes Railway deploy the service, which this call cannot prevent. The variable must be there. */
export async function deleteVariable(
  client: Railway,
  { projectId, environmentId, serviceId }: ServicePlace,
  name: string,
): Promise<void> {
  const input = { projectId, environmentId, serviceId, name };
  await client.mutateRepeatably(remove, { input }, of(input));
}
