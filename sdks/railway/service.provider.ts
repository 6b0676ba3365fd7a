import { UserError } from "../../clients/errors.ts";
import { waitFor } from "../../clients/retry.ts";
import { checkInputs, hasUnknown, PartialFailure, type Provider } from "../../providers/provider.ts";
import { sameValue } from "../../providers/sameValue.ts";
import { configure, railway, type Railway } from "./client/client.ts";
import { environmentState, type EnvironmentState, type Instance } from "./client/environment.ts";
import { isRailwayError } from "./client/errors.ts";
import { makeOnce } from "./client/makeOnce.ts";
import * as api from "./service.api.ts";
import { serviceSchema } from "./service.schema.ts";
import {
  liveSettings,
  normalSettings,
  settingsToWire,
  type NormalSettings,
  type ServiceSettings,
} from "./service.settings.ts";

export interface ServiceInputs extends ServiceSettings {
  name: string;
  projectId: string;
  environmentId: string;
  icon?: string;
  adopt?: boolean;
}

export interface ServiceOutputs extends ServiceInputs {
  /** The settings as last seen on Railway; null while that is not known. */
  observed: NormalSettings | null;
}

const provider: Provider<ServiceInputs, ServiceOutputs> = {
  configure,

  async check(_olds, news) {
    return checkInputs(serviceSchema, news, { secrets: ["registryCredentials"] });
  },

  async diff(_id, olds, news) {
    if (hasUnknown(news)) return { changes: true };
    const replaces = (["projectId", "environmentId"] as const).filter((name) => olds[name] !== news[name]);
    const changes =
      replaces.length > 0 ||
      olds.name !== news.name ||
      isOtherIcon(olds.icon, news) ||
      !sameValue(olds.registryCredentials, news.registryCredentials) ||
      !sameValue(olds.observed, normalSettings(news));
    // Names are unique in a project, and the old one's is taken until it is gone.
    return { changes, replaces, deleteBeforeReplace: replaces.length > 0 };
  },

  async create(inputs) {
    const client = railway();
    const id = await findOrCreate(client, inputs);
    return { id, outs: await converge(client, id, { ...inputs, observed: null }, inputs) };
  },

  async read(id, props) {
    const state = await environmentState(railway(), props);
    const service = state?.services.find((candidate) => candidate.id === id);
    if (state === undefined || service === undefined) return {};
    const instance = state.instances.find(({ serviceId }) => serviceId === id);
    const observed = instance ? liveSettings(instance, state, normalSettings(props)) : null;
    const icon = props.icon === undefined ? {} : { icon: service.icon ?? "" };
    return { id, props: { ...props, ...icon, name: service.name, observed } };
  },

  async update(id, olds, news) {
    if (olds.name !== news.name) {
      console.log(
        `the service "${olds.name}" becomes "${news.name}": its private address and references \${{${olds.name}.…}} change with it`,
      );
    }
    return { outs: await converge(railway(), id, olds, news) };
  },

  async delete(id, props) {
    const client = railway();
    await api.deleteService(client, placeOf(id, props));
    await waitFor(
      async () => {
        const state = await environmentState(client, props, { fresh: true });
        return state?.services.some((service) => service.id === id)
          ? { waiting: "it is still there" }
          : { value: true };
      },
      {
        what: `service "${props.name}" to be gone`,
        deadlineSeconds: 120,
        remedy: "Look at it on railway.com and run the command again.",
      },
    );
  },
};

export default provider;

function placeOf(serviceId: string, { environmentId, name }: ServiceInputs): api.ServicePlace {
  return { serviceId, environmentId, name };
}

/** Not given, the icon is left as it is. */
function isOtherIcon(icon: string | null | undefined, wanted: ServiceInputs): boolean {
  return wanted.icon !== undefined && wanted.icon !== icon;
}

async function findOrCreate(client: Railway, inputs: ServiceInputs): Promise<string> {
  const find = async (fresh: boolean): Promise<{ id: string } | undefined> => {
    const state = await environmentState(client, inputs, { fresh });
    if (state === undefined) {
      throw new UserError(
        `Service "${inputs.name}" cannot be made: environment ${inputs.environmentId} of project ${inputs.projectId} is not there. Run \`pulumi up --refresh\`.`,
      );
    }
    return state.services.find(({ name }) => name === inputs.name);
  };

  const existing = await find(false);
  if (existing !== undefined) return adopted(existing.id, inputs);
  try {
    const { name, projectId, environmentId, icon } = inputs;
    const made = await makeOnce(
      () => api.createService(client, { name, projectId, environmentId, icon }),
      () => find(true),
    );
    return made.id;
  } catch (error) {
    const other = isRailwayError(error, "conflict") ? await find(true) : undefined;
    if (other === undefined) throw error;
    return adopted(other.id, inputs);
  }
}

function adopted(id: string, { name, adopt = true }: ServiceInputs): string {
  if (!adopt) {
    throw new UserError(
      `The project already has a service "${name}" (${id}), which this stack does not know. It was left alone: choose another name, or let it be adopted.`,
    );
  }
  console.warn(`adopting the service "${name}" (${id}), which is there already`);
  return id;
}

/** The service as it is now, once it has come to its environment, which may take a moment after it was made. */
async function awaitInstance(
  client: Railway,
  id: string,
  inputs: ServiceInputs,
): Promise<{ state: EnvironmentState; service: EnvironmentState["services"][number]; instance: Instance }> {
  let fresh = false;
  return waitFor(
    async () => {
      const state = await environmentState(client, inputs, { fresh });
      fresh = true;
      const service = state?.services.find((candidate) => candidate.id === id);
      const instance = state?.instances.find(({ serviceId }) => serviceId === id);
      return state && service && instance
        ? { value: { state, service, instance } }
        : { waiting: "it is not in its environment" };
    },
    {
      what: `service "${inputs.name}" (${id}) to be in environment ${inputs.environmentId}`,
      deadlineSeconds: 60,
      remedy:
        "If it was deleted, `pulumi up --refresh` makes it anew; otherwise running the command again continues from here.",
    },
  );
}

/** Brings a service to its inputs, from however it is. A failure keeps in state what has been reached. */
async function converge(
  client: Railway,
  id: string,
  { observed, registryCredentials: storedCredentials }: Pick<ServiceOutputs, "observed" | "registryCredentials">,
  inputs: ServiceInputs,
): Promise<ServiceOutputs> {
  const { registryCredentials, ...rest } = inputs;
  const isNew = observed === null;
  let reached: ServiceOutputs = { ...rest, observed };
  if (!isNew && storedCredentials) reached = { ...reached, registryCredentials: storedCredentials };
  try {
    const place = placeOf(id, inputs);
    const wanted = normalSettings(inputs);
    const { state, service, instance } = await awaitInstance(client, id, inputs);
    const live = liveSettings(instance, state, wanted);
    reached = { ...reached, name: service.name, observed: live };

    if (service.name !== inputs.name || isOtherIcon(service.icon, inputs)) {
      await api.updateService(client, id, { name: inputs.name, icon: inputs.icon ?? service.icon ?? null });
      reached = { ...reached, name: inputs.name };
    }
    const { memoryGB, vCPUs } = wanted;
    const reachedSettings = { ...wanted, memoryGB: live.memoryGB, vCPUs: live.vCPUs };
    const isOtherCredential = isNew
      ? registryCredentials !== undefined
      : !sameValue(storedCredentials, registryCredentials);
    if (!sameValue(live, reachedSettings) || isOtherCredential) {
      await api.updateServiceInstance(client, place, settingsToWire(inputs, live));
      reached = { ...reached, observed: reachedSettings };
    }
    if (live.memoryGB !== memoryGB || live.vCPUs !== vCPUs) {
      await api.updateServiceLimits(client, place, { memoryGB, vCPUs });
    }
    return { ...inputs, observed: wanted };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new PartialFailure(id, reached, [error.message]);
  }
}
