import { randomUUID } from "node:crypto";
import { requireProject } from "../access.ts";
import { Refusal } from "../errors.ts";
import type { EnvironmentConfig, Instance, ServiceConfig } from "../model.ts";
import type { Resolvers } from "./resolvers.ts";

/** Changes of an environment as a whole, applied at once; the services that they touch are deployed. */
export const patches: Resolvers = ({ account, deployments, network, removal }) => {
  const { store } = account;

  async function applyTo(
    instance: Instance,
    { source, networking, deploy, variables, volumeMounts }: ServiceConfig,
  ): Promise<void> {
    const { serviceId, environmentId } = instance;
    for (const [port, wanted] of Object.entries(networking?.tcpProxies ?? {})) {
      const there = account.proxyOf(instance);
      const applicationPort = Number(port);
      if (wanted === null) {
        if (there?.applicationPort === applicationPort) removal.tcpProxy(there.id);
      } else if (there?.applicationPort !== applicationPort) {
        await network.addProxy({ serviceId, environmentId, applicationPort }, false);
      }
    }
    if (source !== undefined) instance.settings.source = { ...instance.settings.source, ...source };
    if (deploy !== undefined) {
      const { limitOverride, ...settings } = deploy;
      Object.assign(instance.settings, settings);
      if (limitOverride !== undefined) {
        const containers = limitOverride?.containers;
        const memoryGB = containers?.memoryBytes == null ? null : containers.memoryBytes / 1_000_000_000;
        instance.settings.limits = limitOverride === null ? null : { memoryGB, vCPUs: containers?.cpu ?? null };
      }
    }
    for (const [name, variable] of Object.entries(variables ?? {})) {
      if (variable === null) delete instance.variables[name];
      else if (variable.value !== undefined) instance.variables[name] = variable.value;
      const others = instance.sealed.filter((one) => one !== name);
      instance.sealed = variable?.isSealed ? [...others, name] : others;
    }
    for (const [volumeId, mount] of Object.entries(volumeMounts ?? {})) {
      const volume = account.volumeInstance(volumeId, environmentId);
      volume.mountPath = mount?.mountPath ?? volume.mountPath;
      volume.schedules = mount?.backupSchedules ?? volume.schedules;
      store.save("volumeInstances", volume);
    }
    store.save("instances", instance);
  }

  return {
    async environmentPatchCommit(
      { environmentId, patch }: { environmentId: string; patch?: EnvironmentConfig | null },
      caller,
    ) {
      const environment = account.environment(environmentId);
      requireProject(caller, environment.projectId, environmentId);
      for (const [volumeId, change] of Object.entries({ ...environment.staged?.volumes, ...patch?.volumes })) {
        const volume = account.volumeInstance(volumeId, environmentId);
        const sizeMB = change?.sizeMB ?? volume.sizeMB;
        if (sizeMB < volume.sizeMB) throw new Refusal("Volume size can only be increased");
        volume.sizeMB = sizeMB;
        store.save("volumeInstances", volume);
      }
      // A patch takes along what somebody has staged, whether meant or not.
      const services = { ...environment.staged?.services, ...patch?.services };
      environment.staged = null;
      store.save("environments", environment);
      for (const [serviceId, change] of Object.entries(services)) {
        const instance = account.instance(serviceId, environmentId);
        if (change === null) continue;
        await applyTo(instance, change);
        // What the network and backups are like takes effect without a deployment.
        const isMoved = Object.values(change.volumeMounts ?? {}).some((mount) => mount?.mountPath !== undefined);
        const isOther = isMoved || [change.source, change.deploy, change.variables].some((part) => part !== undefined);
        if (isOther && instance.settings.source?.image != null) deployments.deploy(instance);
      }
      return randomUUID();
    },
  };
};
