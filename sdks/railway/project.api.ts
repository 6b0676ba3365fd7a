import { z } from "zod";
import type { Operation, Railway } from "./client/client.ts";
import { unlessGone } from "./client/errors.ts";
import { allNodes, connection, PAGE, type Connection } from "./client/pages.ts";

const PROJECT = `
  id name description isPublic prDeploys workspaceId isTempProject deletedAt
  environments(first: ${PAGE}) {
    edges { node { id name createdAt isEphemeral deletedAt } }
    pageInfo { hasNextPage endCursor }
  }
  services(first: 1) { edges { node { id } } pageInfo { hasNextPage endCursor } }`;

const project = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().nullish(),
  isPublic: z.boolean(),
  prDeploys: z.boolean(),
  workspaceId: z.string().nullish(),
  /** Such a project vanishes after a day, unless somebody claims it. */
  isTempProject: z.boolean(),
  deletedAt: z.string().nullish(),
  environments: connection(
    z.object({
      id: z.string(),
      name: z.string(),
      createdAt: z.string(),
      isEphemeral: z.boolean(),
      deletedAt: z.string().nullish(),
    }),
  ),
  services: connection(z.object({ id: z.string() })),
});
export type LiveProject = z.infer<typeof project>;

const one: Operation<{ project: LiveProject }> = {
  document: `query project($id: String!) { project(id: $id) { ${PROJECT} } }`,
  data: z.object({ project }),
};
const many: Operation<{ projects: Connection<LiveProject> }> = {
  document: `query projects($workspaceId: String!, $first: Int!, $after: String) {
    projects(workspaceId: $workspaceId, first: $first, after: $after) {
      edges { node { ${PROJECT} } }
      pageInfo { hasNextPage endCursor }
    }
  }`,
  data: z.object({ projects: connection(project) }),
};
const create: Operation<{ projectCreate: LiveProject }> = {
  document: `mutation projectCreate($input: ProjectCreateInput!) { projectCreate(input: $input) { ${PROJECT} } }`,
  data: z.object({ projectCreate: project }),
};
const update: Operation<{ projectUpdate: LiveProject }> = {
  document: `mutation projectUpdate($id: String!, $input: ProjectUpdateInput!) {
    projectUpdate(id: $id, input: $input) { ${PROJECT} }
  }`,
  data: z.object({ projectUpdate: project }),
};
const remove: Operation<{ projectDelete: boolean }> = {
  document: "mutation projectDelete($id: String!) { projectDelete(id: $id) }",
  data: z.object({ projectDelete: z.boolean() }),
};
const scheduleRemoval: Operation<{ projectScheduleDelete: boolean }> = {
  document: "mutation projectScheduleDelete($id: String!) { projectScheduleDelete(id: $id) }",
  data: z.object({ projectScheduleDelete: z.boolean() }),
};

const of = (name: string) => ({ of: `project "${name}"` });

/** Undefined when it is certainly gone. */
export async function readProject(client: Railway, id: string, name: string): Promise<LiveProject | undefined> {
  const found = await unlessGone(client.query(one, { id }, of(name)));
  return found?.project.deletedAt == null ? found?.project : undefined;
}

/** All of this name: names are not unique. */
export async function projectsNamed(client: Railway, workspaceId: string, name: string): Promise<LiveProject[]> {
  const all = await allNodes((after) =>
    client.query(many, { workspaceId, first: PAGE, after }, of(name)).then(({ projects }) => projects),
  );
  return all.filter((candidate) => candidate.name === name && candidate.deletedAt == null);
}

export interface ProjectFields {
  readonly name: string;
  readonly description?: string | undefined;
  readonly isPublic: boolean;
  readonly prDeploys: boolean;
}

export async function createProject(
  client: Railway,
  input: ProjectFields & { workspaceId: string; defaultEnvironmentName?: string | undefined },
): Promise<LiveProject> {
  return (await client.mutateOnce(create, { input }, of(input.name))).projectCreate;
}

export async function updateProject(client: Railway, id: string, input: ProjectFields): Promise<LiveProject> {
  return (await client.mutateRepeatably(update, { id, input }, of(input.name))).projectUpdate;
}

/** Finding it gone is success. With `grace` it can be had back for 48 hours. */
export async function deleteProject(client: Railway, id: string, name: string, grace: boolean): Promise<void> {
  if (grace) await unlessGone(client.mutateRepeatably(scheduleRemoval, { id }, of(name)));
  else await unlessGone(client.mutateRepeatably(remove, { id }, of(name)));
}

/** The oldest one that no pull request has made, which the project was created with. */
export function defaultEnvironment(live: LiveProject): { id: string; name: string } | undefined {
  return live.environments.edges
    .map(({ node }) => node)
    .filter(({ isEphemeral, deletedAt }) => !isEphemeral && deletedAt == null)
    .sort((left, right) => Date.parse(left.createdAt) - Date.parse(right.createdAt))[0];
}
