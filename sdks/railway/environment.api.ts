import { z } from "zod";
import type { Operation, Railway } from "./client/client.ts";
import { unlessGone } from "./client/errors.ts";
import { allNodes, connection, PAGE, type Connection } from "./client/pages.ts";

const environment = z.object({ id: z.string(), name: z.string(), deletedAt: z.string().nullish() });
export type LiveEnvironment = z.infer<typeof environment>;

const FIELDS = "id name deletedAt";
const one: Operation<{ environment: LiveEnvironment }> = {
  document: `query environment($id: String!, $projectId: String!) {
    environment(id: $id, projectId: $projectId) { ${FIELDS} }
  }`,
  data: z.object({ environment }),
};
const many: Operation<{ environments: Connection<LiveEnvironment> }> = {
  document: `query environments($projectId: String!, $first: Int!, $after: String) {
    environments(projectId: $projectId, first: $first, after: $after) {
      edges { node { ${FIELDS} } }
      pageInfo { hasNextPage endCursor }
    }
  }`,
  data: z.object({ environments: connection(environment) }),
};
const create: Operation<{ environmentCreate: LiveEnvironment }> = {
  document: `mutation environmentCreate($input: EnvironmentCreateInput!) {
    environmentCreate(input: $input) { ${FIELDS} }
  }`,
  data: z.object({ environmentCreate: environment }),
};
const rename: Operation<{ environmentRename: LiveEnvironment }> = {
  document: `mutation environmentRename($id: String!, $name: String!) {
    environmentRename(id: $id, input: { name: $name }) { ${FIELDS} }
  }`,
  data: z.object({ environmentRename: environment }),
};
const remove: Operation<{ environmentDelete: boolean }> = {
  document: "mutation environmentDelete($id: String!) { environmentDelete(id: $id) }",
  data: z.object({ environmentDelete: z.boolean() }),
};

const of = (name: string) => ({ of: `environment "${name}"` });

/** Undefined when it, or its project, is certainly gone. */
export async function readEnvironment(
  client: Railway,
  { id, projectId, name }: { id: string; projectId: string; name: string },
): Promise<LiveEnvironment | undefined> {
  const found = await unlessGone(client.query(one, { id, projectId }, of(name)));
  return found?.environment.deletedAt == null ? found?.environment : undefined;
}

export async function environmentNamed(
  client: Railway,
  projectId: string,
  name: string,
): Promise<LiveEnvironment | undefined> {
  const all = await allNodes((after) =>
    client.query(many, { projectId, first: PAGE, after }, of(name)).then(({ environments }) => environments),
  );
  return all.find((candidate) => candidate.name === name && candidate.deletedAt == null);
}

/** A copy of another environment is not deployed at once: only a Deployment deploys. */
export async function createEnvironment(
  client: Railway,
  input: { name: string; projectId: string; sourceEnvironmentId?: string | undefined },
): Promise<LiveEnvironment> {
  const variables = { input: { ...input, skipInitialDeploys: true } };
  return (await client.mutateOnce(create, variables, of(input.name))).environmentCreate;
}

export async function renameEnvironment(client: Railway, id: string, name: string): Promise<void> {
  await client.mutateRepeatably(rename, { id, name }, of(name));
}

/** Finding it gone is success. */
export async function deleteEnvironment(client: Railway, id: string, name: string): Promise<void> {
  await unlessGone(client.mutateRepeatably(remove, { id }, of(name)));
}
