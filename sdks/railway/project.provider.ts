import { z } from "zod";
import { UserError } from "../../clients/errors.ts";
import { checkInputs, isUnknown, PartialFailure, type Provider } from "../../providers/provider.ts";
import { sameValue } from "../../providers/sameValue.ts";
import { readAccess } from "./client/access.ts";
import { configure, railway, type Railway } from "./client/client.ts";
import { makeOnce } from "./client/makeOnce.ts";
import { renameEnvironment } from "./environment.api.ts";
import { text } from "./inputs.schema.ts";
import * as api from "./project.api.ts";

export interface ProjectInputs {
  name: string;
  workspaceId?: string;
  description?: string;
  defaultEnvironmentName?: string;
  private?: boolean;
  hasPrDeploys?: boolean;
  adoptId?: string;
  deletionMode?: "immediate" | "grace";
}

export interface ProjectOutputs extends ProjectInputs {
  defaultEnvironmentId: string;
}

const flag = z.boolean({ error: "must be true or false" }).optional();
const schema = z.object({
  name: text,
  workspaceId: text.optional(),
  description: z.string({ error: "must be a text" }).optional(),
  defaultEnvironmentName: text.optional(),
  private: flag,
  hasPrDeploys: flag,
  adoptId: text.optional(),
  deletionMode: z.enum(["immediate", "grace"], { error: "must be immediate or grace" }).optional(),
});

const provider: Provider<ProjectInputs, ProjectOutputs> = {
  configure,

  async check(_olds, news) {
    return checkInputs(schema, news);
  },

  async diff(id, olds, news) {
    const replaces = [
      ...(isOther(news.workspaceId, olds.workspaceId) ? ["workspaceId"] : []),
      ...(isOther(news.adoptId, id) ? ["adoptId"] : []),
    ];
    return { changes: replaces.length > 0 || !sameValue(normal(olds), normal(news)), replaces };
  },

  async create(inputs) {
    const client = railway();
    const live = await findOrCreate(client, inputs);
    return { id: live.id, outs: await converge(client, live, inputs) };
  },

  async read(id, props) {
    const live = await api.readProject(railway(), id, props.name);
    return live === undefined ? {} : { id, props: observed(props, live) };
  },

  async update(id, olds, news) {
    const client = railway();
    const live = await api.readProject(client, id, olds.name);
    if (live === undefined) {
      throw new UserError(
        `Railway project "${olds.name}" (${id}) is gone, so it cannot be changed. Run \`pulumi up --refresh\`, which makes a new one.`,
      );
    }
    return { outs: await converge(client, live, news) };
  },

  async delete(id, props) {
    if (props.adoptId !== undefined) {
      console.log(`project "${props.name}" (${id}) was there before this stack and is left as it is`);
      return;
    }
    await api.deleteProject(railway(), id, props.name, props.deletionMode === "grace");
  },
};

export default provider;

function isOther(wanted: string | undefined, actual: string | undefined): boolean {
  return wanted !== undefined && actual !== undefined && wanted !== actual && !isUnknown(wanted);
}

/** The inputs alone, with their defaults. */
function normal(inputs: ProjectInputs): object {
  const { workspaceId, defaultEnvironmentName, adoptId, deletionMode = "immediate" } = inputs;
  return { ...fields(inputs), workspaceId, defaultEnvironmentName, adoptId, deletionMode };
}

function fields(inputs: ProjectInputs): api.ProjectFields {
  return {
    name: inputs.name,
    description: inputs.description,
    isPublic: !(inputs.private ?? true),
    prDeploys: inputs.hasPrDeploys ?? false,
  };
}

async function findOrCreate(client: Railway, inputs: ProjectInputs): Promise<api.LiveProject> {
  const access = await readAccess(client);
  if (inputs.adoptId !== undefined) return adopt(client, inputs.adoptId, inputs.name);
  if (access.kind === "project") {
    throw new UserError(
      `A project token reaches its own project (${access.projectId}) only and cannot make project "${inputs.name}". ` +
        `Give an account or workspace token (railway:token or RAILWAY_API_TOKEN), or adopt that project by its id (railway:projectId).`,
    );
  }
  const workspaceId = chooseWorkspace(inputs, access.workspaces);
  const leftover = await findLeftover(client, workspaceId, inputs.name);
  if (leftover !== undefined) return leftover;
  return makeOnce(
    () =>
      api.createProject(client, {
        ...fields(inputs),
        workspaceId,
        defaultEnvironmentName: inputs.defaultEnvironmentName,
      }),
    () => findLeftover(client, workspaceId, inputs.name),
  );
}

async function adopt(client: Railway, id: string, name: string): Promise<api.LiveProject> {
  const live = await api.readProject(client, id, name);
  if (live !== undefined) return live;
  throw new UserError(`There is no project ${id} to adopt on Railway. Copy the id from the project's Settings.`);
}

function chooseWorkspace(inputs: ProjectInputs, workspaces: readonly { id: string; name: string }[]): string {
  const named = workspaces.map(({ id, name }) => `${id} (${name})`).join(", ") || "none";
  const { workspaceId } = inputs;
  if (workspaceId === undefined) {
    const [only] = workspaces;
    if (only !== undefined && workspaces.length === 1) return only.id;
    throw new UserError(
      `Project "${inputs.name}" needs railway:workspaceId: the token reaches these workspaces: ${named}. ` +
        "Without one Railway makes a temporary project, which vanishes after a day.",
    );
  }
  if (workspaces.some(({ id }) => id === workspaceId)) return workspaceId;
  throw new UserError(
    `The token does not reach workspace ${workspaceId} (railway:workspaceId). It reaches: ${named}. Set one of these, or another token.`,
  );
}

/**
 * What a run that was cut off has made: a project of this name without any service, since nothing is put into one whose
 * id has not been recorded. One with services is somebody's, and is refused.
 */
async function findLeftover(client: Railway, workspaceId: string, name: string): Promise<api.LiveProject | undefined> {
  const found = await api.projectsNamed(client, workspaceId, name);
  const empty = found.find(({ services }) => services.edges.length === 0);
  if (empty !== undefined) console.log(`taking the project "${name}" (${empty.id}), which is there and empty`);
  else if (found[0] !== undefined) {
    throw new UserError(
      `The workspace already has a project "${name}" (${found[0].id}) with services in it, which this stack does not know. It was left alone. ` +
        `To work in it, adopt it (adoptId ${found[0].id}; lakekeeper:railway.projectId in this project). Otherwise rename or delete it on railway.com.`,
    );
  }
  return empty;
}

/** Brings a project to its inputs; a failure keeps the id in state. */
async function converge(client: Railway, before: api.LiveProject, inputs: ProjectInputs): Promise<ProjectOutputs> {
  let live = before;
  try {
    if (live.isTempProject) {
      throw new UserError(
        `Railway made "${live.name}" (${live.id}) a temporary project, which vanishes after a day. Claim it on railway.com or set railway:workspaceId and replace it.`,
      );
    }
    if (!sameValue(fields(observed(inputs, live)), fields(inputs))) {
      live = await api.updateProject(client, live.id, fields(inputs));
    }
    const environment = api.defaultEnvironment(live);
    const { defaultEnvironmentName: wanted } = inputs;
    if (environment !== undefined && wanted !== undefined && environment.name !== wanted) {
      await renameEnvironment(client, environment.id, wanted);
      const renamed = await api.readProject(client, live.id, live.name);
      live = renamed ?? live;
    }
    if (environment === undefined) {
      throw new UserError(
        `Project "${live.name}" (${live.id}) has no environment. Make one on railway.com and run the command again.`,
      );
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new PartialFailure(live.id, observed(inputs, live), [error.message]);
  }
  return observed(inputs, live);
}

/** Outputs that say how the project is, in the words of the inputs. */
function observed(inputs: ProjectInputs, live: api.LiveProject): ProjectOutputs {
  const environment = api.defaultEnvironment(live);
  return {
    ...inputs,
    name: live.name,
    ...(inputs.workspaceId !== undefined && { workspaceId: live.workspaceId ?? inputs.workspaceId }),
    ...(inputs.description !== undefined && { description: live.description ?? "" }),
    ...(inputs.defaultEnvironmentName !== undefined && environment && { defaultEnvironmentName: environment.name }),
    private: !live.isPublic,
    hasPrDeploys: live.prDeploys,
    defaultEnvironmentId: environment?.id ?? "",
  };
}
