import { requireProject } from "../access.ts";
import { randomName } from "../account.ts";
import { Refusal } from "../errors.ts";
import type { InstanceSettings } from "../model.ts";
import type { Resolvers } from "./resolvers.ts";

interface CreateInput {
  readonly projectId: string;
  readonly environmentId?: string | null;
  readonly name?: string | null;
  readonly icon?: string | null;
  readonly source?: { image?: string | null; repo?: string | null } | null;
  readonly variables?: Record<string, string> | null;
}

type InstanceInput = Partial<InstanceSettings> & Record<string, unknown>;

/** Settings that may be given and are not shown again, or that nothing here depends on. */
const SETTINGS = [
  "startCommand",
  "preDeployCommand",
  "healthcheckPath",
  "healthcheckTimeout",
  "region",
  "drainingSeconds",
  "overlapSeconds",
  "sleepApplication",
  "cronSchedule",
] as const;

export const services: Resolvers = ({ account, views, deployments, removal }) => ({
  service({ id }: { id: string }, caller) {
    const service = account.service(id);
    requireProject(caller, service.projectId);
    return views.service(service);
  },

  serviceInstance({ serviceId, environmentId }: { serviceId: string; environmentId: string }, caller) {
    requireProject(caller, account.service(serviceId).projectId, environmentId);
    const instance = account.instance(serviceId, environmentId);
    if (instance.visibleAt > Date.now()) throw new Refusal("ServiceInstance not found");
    return views.instance(instance);
  },

  serviceCreate({ input }: { input: CreateInput }, caller) {
    const { projectId, environmentId } = input;
    requireProject(caller, projectId, environmentId ?? undefined);
    const places = account.environmentsLike(projectId, environmentId);
    const name = input.name ?? randomName();
    account.requireServiceName(projectId, name);
    const service = account.store.save("services", { ...account.born(), projectId, name, icon: input.icon ?? null });
    for (const environment of places) {
      const instance = account.addInstance(service.id, environment.id);
      instance.variables = { ...input.variables };
      if (input.source != null) instance.settings.source = input.source;
      account.store.save("instances", instance);
      // A service with a source is deployed at once, before anything else could be set.
      if (input.source?.image != null) deployments.deploy(instance);
    }
    return views.service(service);
  },

  serviceUpdate({ id, input }: { id: string; input: { name?: string | null; icon?: string | null } }, caller) {
    const service = account.service(id);
    requireProject(caller, service.projectId);
    if (input.name != null) {
      account.requireServiceName(service.projectId, input.name, id);
      service.name = input.name;
    }
    if (input.icon !== undefined) service.icon = input.icon;
    return views.service(account.store.save("services", service));
  },

  serviceConnect({ id, input }: { id: string; input: { image?: string | null; repo?: string | null } }, caller) {
    const service = account.service(id);
    requireProject(caller, service.projectId);
    for (const instance of account.instances(id, undefined)) {
      instance.settings.source = { image: input.image ?? null, repo: input.repo ?? null };
      account.store.save("instances", instance);
      deployments.deploy(instance);
    }
    return views.service(service);
  },

  async serviceDelete({ id, environmentId }: { id: string; environmentId?: string | null }, caller) {
    const service = account.service(id);
    requireProject(caller, service.projectId, environmentId ?? undefined);
    await removal.service(service, environmentId);
    return true;
  },

  /** Changes what the next deployment will run, and deploys nothing. False when there is nothing to change. */
  serviceInstanceUpdate(
    { serviceId, environmentId, input }: { serviceId: string; environmentId?: string | null; input: InstanceInput },
    caller,
  ) {
    requireProject(caller, account.service(serviceId).projectId, environmentId ?? undefined);
    const regions = Object.values(input.multiRegionConfig ?? {}).map((region) => region?.numReplicas);
    const replicas = [input.numReplicas, ...regions].filter((count) => count != null);
    if (replicas.some((count) => count < 1)) throw new Refusal("numReplicas must be at least 1");
    const changed = account.instances(serviceId, environmentId).map((instance) => {
      if (replicas.some((count) => count > 1) && account.volumeOf(instance) !== undefined) {
        throw new Refusal("A service with a volume cannot have replicas");
      }
      const before = JSON.stringify(instance.settings);
      apply(instance.settings, input);
      const isChanged = JSON.stringify(instance.settings) !== before;
      if (isChanged) account.store.save("instances", instance);
      return isChanged;
    });
    return changed.includes(true);
  },

  serviceInstanceLimitsUpdate(
    { input }: { input: { serviceId: string; environmentId: string; memoryGB?: number | null; vCPUs?: number | null } },
    caller,
  ) {
    requireProject(caller, account.service(input.serviceId).projectId, input.environmentId);
    const instance = account.instance(input.serviceId, input.environmentId);
    instance.settings.limits = { ...instance.settings.limits, ...pick(input, ["memoryGB", "vCPUs"]) };
    account.store.save("instances", instance);
    return true;
  },
});

/** Null takes a setting away, and what is absent stays; but the number of replicas, when absent, goes back to one. */
function apply(settings: InstanceSettings, input: InstanceInput): void {
  Object.assign(settings, pick(input, SETTINGS));
  if (input.source !== undefined)
    settings.source = input.source === null ? null : { ...settings.source, ...input.source };
  if (input.restartPolicyType != null) settings.restartPolicyType = input.restartPolicyType;
  if (input.restartPolicyMaxRetries != null) settings.restartPolicyMaxRetries = input.restartPolicyMaxRetries;
  settings.numReplicas = input.numReplicas ?? 1;
  if (input.multiRegionConfig !== undefined) {
    const regions = Object.entries({ ...settings.multiRegionConfig, ...input.multiRegionConfig });
    const kept = regions.filter(([, region]) => region !== null);
    settings.multiRegionConfig =
      input.multiRegionConfig === null || kept.length === 0 ? null : Object.fromEntries(kept);
  }
}

function pick<Fields extends object>(from: Fields, names: readonly string[]): Partial<Fields> {
  return Object.fromEntries(
    Object.entries(from).filter(([name, value]) => names.includes(name) && value !== undefined),
  ) as Partial<Fields>;
}
