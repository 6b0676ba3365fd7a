import { z } from "zod";
import { waitFor } from "../../clients/retry.ts";
import { UserError } from "../../clients/errors.ts";
import type { Operation, Railway } from "./client/client.ts";
import { unlessGone } from "./client/errors.ts";
import { makeOnce } from "./client/makeOnce.ts";
import { connection, type Connection } from "./client/pages.ts";
import type { ServicePlace } from "./inputs.schema.ts";

const FIELDS = "id status createdAt deploymentStopped url instances { id status }";
const deployment = z.object({
  id: z.string(),
  status: z.string(),
  createdAt: z.string(),
  deploymentStopped: z.boolean(),
  url: z.string().nullish(),
  instances: z.array(z.object({ id: z.string(), status: z.string() })),
});
export type LiveDeployment = z.infer<typeof deployment>;

const one: Operation<{ deployment: LiveDeployment }> = {
  document: `query deployment($id: String!) { deployment(id: $id) { ${FIELDS} } }`,
  data: z.object({ deployment }),
};
const newest: Operation<{ deployments: Connection<LiveDeployment> }> = {
  document: `query deployments($input: DeploymentListInput!, $first: Int!) {
    deployments(input: $input, first: $first) {
      edges { node { ${FIELDS} } }
      pageInfo { hasNextPage endCursor }
    }
  }`,
  data: z.object({ deployments: connection(deployment) }),
};
const deploy: Operation<{ serviceInstanceDeployV2: string }> = {
  document: `mutation serviceInstanceDeployV2($serviceId: String!, $environmentId: String!) {
    serviceInstanceDeployV2(serviceId: $serviceId, environmentId: $environmentId)
  }`,
  data: z.object({ serviceInstanceDeployV2: z.string() }),
};
const story: Operation<{
  deploymentEvents: Connection<{ step: string; payload?: { error?: string | null | undefined } | null | undefined }>;
  deploymentLogs: { message: string }[];
}> = {
  document: `query deploymentStory($id: String!, $first: Int!, $limit: Int!) {
    deploymentEvents(id: $id, first: $first) {
      edges { node { step payload { error } } }
      pageInfo { hasNextPage endCursor }
    }
    deploymentLogs(deploymentId: $id, limit: $limit) { message }
  }`,
  data: z.object({
    deploymentEvents: connection(
      z.object({ step: z.string(), payload: z.object({ error: z.string().nullish() }).nullish() }),
    ),
    deploymentLogs: z.array(z.object({ message: z.string() })),
  }),
};
const variables: Operation<{ variables: Record<string, string> }> = {
  document: `query variables($projectId: String!, $environmentId: String!, $serviceId: String!) {
    variables(projectId: $projectId, environmentId: $environmentId, serviceId: $serviceId)
  }`,
  data: z.object({ variables: z.record(z.string(), z.string()) }),
};
const backup: Operation<{ volumeInstanceBackupCreate: { workflowId?: string | null | undefined } }> = {
  document: `mutation volumeInstanceBackupCreate($id: String!, $name: String!) {
    volumeInstanceBackupCreate(volumeInstanceId: $id, name: $name) { workflowId }
  }`,
  data: z.object({ volumeInstanceBackupCreate: z.object({ workflowId: z.string().nullish() }) }),
};
const backups: Operation<{ volumeInstanceBackupList: { name?: string | null | undefined; createdAt: string }[] }> = {
  document: `query volumeInstanceBackupList($id: String!) {
    volumeInstanceBackupList(volumeInstanceId: $id) { name createdAt }
  }`,
  data: z.object({
    volumeInstanceBackupList: z.array(z.object({ name: z.string().nullish(), createdAt: z.string() })),
  }),
};
const workflow: Operation<{ workflowStatus: { status: string; error?: string | null | undefined } }> = {
  document: "query workflowStatus($id: String!) { workflowStatus(workflowId: $id) { status error } }",
  data: z.object({ workflowStatus: z.object({ status: z.string(), error: z.string().nullish() }) }),
};

/** The deployment with that id; undefined when it is gone. */
export async function readDeployment(client: Railway, id: string, what: string): Promise<LiveDeployment | undefined> {
  return (await unlessGone(client.query(one, { id }, { of: `deployment of ${what}` })))?.deployment;
}

/** Those of a service, newest first; undefined when the service is gone. */
export async function latestDeployments(
  client: Railway,
  { projectId, environmentId, serviceId }: ServicePlace,
  what: string,
): Promise<LiveDeployment[] | undefined> {
  const variablesOfCall = { input: { projectId, environmentId, serviceId }, first: 5 };
  const found = await unlessGone(client.query(newest, variablesOfCall, { of: `deployments of ${what}` }));
  return found?.deployments.edges.map(({ node }) => node);
}

/** The deployment that has taken the place of one that Railway removes or has removed; undefined when none has. */
export async function successorOf(
  client: Railway,
  live: LiveDeployment,
  place: ServicePlace,
  what: string,
): Promise<LiveDeployment | undefined> {
  if (!["REMOVED", "REMOVING"].includes(live.status)) return undefined;
  const [latest] = (await latestDeployments(client, place, what)) ?? [];
  return latest !== undefined && latest.createdAt > live.createdAt ? latest : undefined;
}

/** Deploys a service as it is now and gives the deployment's id. After an open outcome, one that was not there before is it. */
export async function startDeployment(client: Railway, place: ServicePlace, what: string): Promise<string> {
  const { serviceId, environmentId } = place;
  const known = new Set((await latestDeployments(client, place, what))?.map(({ id }) => id));
  return makeOnce(
    async () =>
      (await client.mutateOnce(deploy, { serviceId, environmentId }, { of: `service ${what}` }))
        .serviceInstanceDeployV2,
    async () => (await latestDeployments(client, place, what))?.find(({ id }) => !known.has(id))?.id,
  );
}

/** The errors that Railway names and the end of the log; the service's secrets are the caller's to redact. */
export async function readStory(
  client: Railway,
  id: string,
  what: string,
): Promise<{ errors: string[]; log: string[] }> {
  const found = await client.query(story, { id, first: 50, limit: 15 }, { of: `deployment of ${what}` });
  const errors = found.deploymentEvents.edges.flatMap(({ node }) =>
    node.payload?.error ? [`${node.step}: ${node.payload.error}`] : [],
  );
  return { errors, log: found.deploymentLogs.map(({ message }) => message) };
}

/** What the service is given, by name, references replaced. Sealed variables never come back. */
export async function renderedVariables(
  client: Railway,
  place: ServicePlace,
  what: string,
): Promise<Record<string, string>> {
  const { projectId, environmentId, serviceId } = place;
  const found = await client.query(variables, { projectId, environmentId, serviceId }, { of: `variables of ${what}` });
  return found.variables;
}

/** Makes a backup of a volume and waits until it is done. */
export async function backUp(client: Railway, volumeInstanceId: string, name: string): Promise<void> {
  const options = { of: `backup "${name}"` };
  const began = Date.now();
  const workflowId = await makeOnce(
    async () =>
      (await client.mutateOnce(backup, { id: volumeInstanceId, name }, options)).volumeInstanceBackupCreate
        .workflowId ?? "",
    async () => {
      const { volumeInstanceBackupList } = await client.query(backups, { id: volumeInstanceId }, options);
      // A minute for clocks that differ.
      const isOurs = (made: { name?: string | null | undefined; createdAt: string }): boolean =>
        made.name === name && Date.parse(made.createdAt) > began - 60_000;
      return volumeInstanceBackupList.some(isOurs) ? "" : undefined;
    },
  );
  // Found in the list it is done.
  if (workflowId === "") return;
  await waitFor(
    async () => {
      const { status, error } = (await client.query(workflow, { id: workflowId }, options)).workflowStatus;
      if (status === "Complete") return { value: true };
      if (status === "Error") {
        throw new UserError(
          `The backup "${name}" has failed: ${error ?? "Railway does not say why"}. Nothing was deployed.`,
        );
      }
      // Railway does not know one right after it was begun.
      return { waiting: status === "NotFound" ? "it has not begun" : status };
    },
    {
      what: options.of,
      deadlineSeconds: 1_800,
      remedy: "Look at the volume's backups on railway.com, then run the command again.",
    },
  );
}
