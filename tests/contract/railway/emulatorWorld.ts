import { setTimeout as delay } from "node:timers/promises";
import type { TestRailway } from "./support.ts";

export interface LiveDeployment {
  readonly id: string;
  readonly status: string;
  readonly deploymentStopped: boolean;
  readonly instances: { readonly status: string }[];
}

export interface EmulatorWorld {
  readonly projectId: string;
  readonly environmentId: string;
  /** Makes a service, with settings of its instance when there are any. */
  service(name?: string, settings?: object): Promise<string>;
  update(serviceId: string, input: object): Promise<boolean>;
  deploy(serviceId: string): Promise<string>;
  deployment(id: string): Promise<LiveDeployment>;
  /** The deployment once a condition holds. */
  until(id: string, condition: (one: LiveDeployment) => boolean): Promise<LiveDeployment>;
  status(id: string, status: string): Promise<LiveDeployment>;
  deploymentsOf(serviceId: string): Promise<LiveDeployment[]>;
  setVariables(serviceId: string | null, variables: object, more?: object): Promise<void>;
  variablesOf(serviceId: string, unrendered?: boolean): Promise<Record<string, string>>;
  volume(serviceId: string | null, more?: object): Promise<string>;
  commit(patch: object): Promise<void>;
  /** Fields of the environment. */
  environment<Fields>(fields: string): Promise<Fields>;
}

const DEPLOYMENT = "id status deploymentStopped instances { status }";

/** The words of an error, or that there was none. */
export function refusal(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => "no error",
    (error: Error) => error.message,
  );
}

const PATIENCE = 30_000;

/** Waits for what a call finds. */
export async function eventually<T>(find: () => Promise<T | undefined>): Promise<T> {
  for (const end = Date.now() + PATIENCE; Date.now() < end; await delay(5)) {
    const found = await find();
    if (found !== undefined) return found;
  }
  throw new Error(`not within ${PATIENCE / 1_000} s: ${String(find)}`);
}

/** A project of its own in an emulator, and what tests do in it. */
export async function worldIn(railway: TestRailway): Promise<EmulatorWorld> {
  const place = await railway.project();
  const { projectId, environmentId } = place;
  const at = (serviceId: string) => ({ s: serviceId, e: environmentId });

  const world: EmulatorWorld = {
    ...place,
    async service(name = "Web", settings) {
      const { serviceCreate } = await railway.call<{ serviceCreate: { id: string } }>(
        "mutation ($input: ServiceCreateInput!) { serviceCreate(input: $input) { id } }",
        { input: { ...place, name } },
      );
      if (settings !== undefined) await world.update(serviceCreate.id, { source: { image: "web:1" }, ...settings });
      return serviceCreate.id;
    },
    async update(serviceId, input) {
      const data = await railway.call<{ serviceInstanceUpdate: boolean }>(
        `mutation ($s: String!, $e: String!, $input: ServiceInstanceUpdateInput!) {
          serviceInstanceUpdate(serviceId: $s, environmentId: $e, input: $input)
        }`,
        { ...at(serviceId), input },
      );
      return data.serviceInstanceUpdate;
    },
    async deploy(serviceId) {
      const data = await railway.call<{ serviceInstanceDeployV2: string }>(
        "mutation ($s: String!, $e: String!) { serviceInstanceDeployV2(serviceId: $s, environmentId: $e) }",
        at(serviceId),
      );
      return data.serviceInstanceDeployV2;
    },
    async deployment(id) {
      const data = await railway.call<{ deployment: LiveDeployment }>(
        `query ($id: String!) { deployment(id: $id) { ${DEPLOYMENT} } }`,
        { id },
      );
      return data.deployment;
    },
    until: (id, condition) =>
      eventually(async () => {
        const one = await world.deployment(id);
        return condition(one) ? one : undefined;
      }),
    status: (id, status) => world.until(id, (one) => one.status === status),
    async deploymentsOf(serviceId) {
      const data = await railway.call<{ deployments: { edges: { node: LiveDeployment }[] } }>(
        `query ($input: DeploymentListInput!) { deployments(input: $input, first: 50) { edges { node { ${DEPLOYMENT} } } } }`,
        { input: { ...place, serviceId } },
      );
      return data.deployments.edges.map(({ node }) => node);
    },
    async setVariables(serviceId, variables, more = {}) {
      await railway.call(
        "mutation ($input: VariableCollectionUpsertInput!) { variableCollectionUpsert(input: $input) }",
        { input: { ...place, serviceId, variables, skipDeploys: true, ...more } },
      );
    },
    async variablesOf(serviceId, unrendered = false) {
      const data = await railway.call<{ variables: Record<string, string> }>(
        `query ($p: String!, $e: String!, $s: String!, $unrendered: Boolean) {
          variables(projectId: $p, environmentId: $e, serviceId: $s, unrendered: $unrendered)
        }`,
        { ...at(serviceId), p: projectId, unrendered },
      );
      return data.variables;
    },
    async volume(serviceId, more = {}) {
      const data = await railway.call<{ volumeCreate: { id: string } }>(
        "mutation ($input: VolumeCreateInput!) { volumeCreate(input: $input) { id } }",
        { input: { ...place, serviceId, mountPath: "/data", ...more } },
      );
      return data.volumeCreate.id;
    },
    async commit(patch) {
      await railway.call(
        "mutation ($e: String!, $patch: EnvironmentConfig) { environmentPatchCommit(environmentId: $e, patch: $patch) }",
        { e: environmentId, patch },
      );
    },
    async environment<Fields>(fields: string) {
      const data = await railway.call<{ environment: Fields }>(
        `query ($e: String!) { environment(id: $e) { ${fields} } }`,
        { e: environmentId },
      );
      return data.environment;
    },
  };
  return world;
}
