import { clock } from "../../../clients/retry.ts";
import type { Railway } from "./client.ts";
import { environmentQuery, type EnvironmentPage, type Instance, type VolumeInstance } from "./environment.query.ts";
import { unlessGone } from "./errors.ts";
import { nextCursor, PAGE, type Connection } from "./pages.ts";

export type { Instance, VolumeInstance };

/** How an environment was at one moment, without what has been deleted. */
export interface EnvironmentState {
  readonly id: string;
  readonly name: string;
  /** Changes that a person has staged and not deployed. */
  readonly unmergedChanges: number;
  /** Services of the whole project. */
  readonly services: readonly {
    readonly id: string;
    readonly name: string;
    readonly icon?: string | null | undefined;
  }[];
  readonly instances: readonly Instance[];
  /** Volumes that wait for their deletion included: see `isPendingDeletion` and `state`. */
  readonly volumes: readonly VolumeInstance[];
  /** The configuration as Railway keeps it, by service id and volume id. Values of variables are masked. */
  readonly config: EnvironmentPage["environment"]["config"];
}

const FRESH_MILLISECONDS = 5_000;

interface Reading {
  readonly at: number;
  readonly mutations: number;
  readonly state: Promise<EnvironmentState | undefined>;
}
const readings = new WeakMap<Railway, Map<string, Reading>>();

/**
 * The environment as it is now; undefined when it, or its project, is certainly not there.
 *
 * What is read is shared for a few seconds, until this process changes anything: so a refresh of many resources is one
 * call.
 */
export async function environmentState(
  client: Railway,
  { projectId, environmentId }: { projectId: string; environmentId: string },
  { fresh = false }: { /** Never what was read before. */ fresh?: boolean } = {},
): Promise<EnvironmentState | undefined> {
  const known = readings.get(client) ?? new Map<string, Reading>();
  readings.set(client, known);
  const recent = known.get(environmentId);
  const isRecent = recent?.mutations === client.mutations && clock.now() - recent.at < FRESH_MILLISECONDS;
  if (isRecent && !fresh) return recent.state;

  const state = unlessGone(readEnvironment(client, projectId, environmentId));
  const reading = { at: clock.now(), mutations: client.mutations, state };
  known.set(environmentId, reading);
  // A failure is for those who wait for it; whoever comes later asks again.
  state.catch(() => known.get(environmentId) === reading && known.delete(environmentId));
  return state;
}

async function readEnvironment(
  client: Railway,
  projectId: string,
  environmentId: string,
): Promise<EnvironmentState | undefined> {
  const services: EnvironmentState["services"][number][] = [];
  const instances: Instance[] = [];
  const volumes: VolumeInstance[] = [];
  let cursors: { services?: string | undefined; instances?: string | undefined; volumes?: string | undefined } = {};
  for (;;) {
    const page = await client.query(
      environmentQuery,
      { projectId, environmentId, first: PAGE, ...cursors },
      { of: `environment ${environmentId}` },
    );
    const { project, environment } = page;
    if (project.deletedAt || environment.deletedAt) return undefined;
    services.push(...living(project.services));
    instances.push(...living(environment.serviceInstances));
    volumes.push(...environment.volumeInstances.edges.map(({ node }) => node));

    const next = {
      services: nextCursor(project.services, cursors.services),
      instances: nextCursor(environment.serviceInstances, cursors.instances),
      volumes: nextCursor(environment.volumeInstances, cursors.volumes),
    };
    if (Object.values(next).every((cursor) => cursor === undefined)) {
      return {
        id: environment.id,
        name: environment.name,
        unmergedChanges: environment.unmergedChangesCount ?? 0,
        services: unique(services),
        instances: unique(instances),
        volumes: unique(volumes),
        config: environment.config,
      };
    }
    // A list that has been read to its end is asked for what comes after that, which is nothing.
    cursors = {
      services: next.services ?? project.services.pageInfo.endCursor ?? cursors.services,
      instances: next.instances ?? environment.serviceInstances.pageInfo.endCursor ?? cursors.instances,
      volumes: next.volumes ?? environment.volumeInstances.pageInfo.endCursor ?? cursors.volumes,
    };
  }
}

function living<Node extends { deletedAt?: string | null | undefined }>(page: Connection<Node>): Node[] {
  return page.edges.map(({ node }) => node).filter(({ deletedAt }) => deletedAt == null);
}

function unique<Node extends { id: string }>(nodes: readonly Node[]): Node[] {
  return [...new Map(nodes.map((node) => [node.id, node])).values()];
}
