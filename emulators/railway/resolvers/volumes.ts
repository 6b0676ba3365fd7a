import { randomUUID } from "node:crypto";
import { requireProject } from "../access.ts";
import { randomName } from "../account.ts";
import { Refusal, notFound } from "../errors.ts";
import type { BackupKind, VolumeInstance } from "../model.ts";
import type { Resolvers } from "./resolvers.ts";

const USUAL_SIZE_MB = 5_000;
const CRON: Readonly<Record<BackupKind, string>> = { DAILY: "0 0 * * *", WEEKLY: "0 0 * * 0", MONTHLY: "0 0 1 * *" };

interface CreateInput {
  readonly projectId: string;
  readonly environmentId?: string | null;
  readonly serviceId?: string | null;
  readonly mountPath: string;
  readonly region?: string | null;
}

export const volumes: Resolvers = ({ account, views, removal }) => {
  const { store } = account;

  function instance(id: string): VolumeInstance {
    const found = store.list("volumeInstances").find((one) => one.id === id);
    if (found === undefined) throw notFound("VolumeInstance");
    return found;
  }

  return {
    volumeInstance({ id }: { id: string }, caller) {
      const found = instance(id);
      requireProject(caller, account.environment(found.environmentId).projectId, found.environmentId);
      return views.volumeInstance(found);
    },

    volumeCreate({ input }: { input: CreateInput }, caller) {
      const { projectId, environmentId, serviceId, mountPath } = input;
      requireProject(caller, projectId, environmentId ?? undefined);
      account.project(projectId);
      if (input.region === "") throw new Refusal("Problem processing request");
      if (!mountPath.startsWith("/")) throw new Refusal("Mount path must be absolute");
      // Null means no environment, and absent all of them.
      const places =
        environmentId === null
          ? []
          : environmentId === undefined
            ? account.environmentsOf(projectId).map(({ id }) => id)
            : [account.environmentIn(projectId, environmentId).id];
      if (serviceId != null) {
        for (const place of places) {
          if (account.volumeOf(account.instance(serviceId, place)) !== undefined) {
            throw new Refusal("A service can only have one volume");
          }
        }
      }
      const volume = store.save("volumes", { ...account.born(), projectId, name: `${randomName()}-volume` });
      for (const place of places) {
        store.save("volumeInstances", {
          ...account.born(),
          volumeId: volume.id,
          environmentId: place,
          serviceId: serviceId ?? null,
          mountPath,
          region: input.region ?? null,
          sizeMB: USUAL_SIZE_MB,
          visibleAt: account.visibleAt(),
          deletionAt: null,
          schedules: [],
          backups: [],
        });
      }
      return volume;
    },

    volumeUpdate({ volumeId, input }: { volumeId: string; input: { name?: string | null } }, caller) {
      const volume = store.get("volumes", volumeId);
      if (volume === undefined || volume.deletedAt !== null) throw notFound("Volume");
      requireProject(caller, volume.projectId);
      if (input.name != null) {
        const isTaken = account
          .volumesOf(volume.projectId)
          .some((one) => one.name === input.name && one.id !== volumeId);
        if (isTaken) throw new Refusal("Volume name already exists");
        volume.name = input.name;
      }
      return store.save("volumes", volume);
    },

    /** Without a service it is taken away from the one it has. */
    volumeInstanceUpdate(
      args: {
        volumeId: string;
        environmentId?: string | null;
        input: { mountPath?: string | null; serviceId?: string | null };
      },
      caller,
    ) {
      const found = account.volumeInstance(args.volumeId, args.environmentId);
      requireProject(caller, account.environment(found.environmentId).projectId, found.environmentId);
      const { serviceId = null } = args.input;
      const there = serviceId === null ? undefined : account.volumeOf({ ...found, serviceId });
      if (there !== undefined && there.id !== found.id) throw new Refusal("A service can only have one volume");
      found.serviceId = serviceId;
      found.mountPath = args.input.mountPath ?? found.mountPath;
      store.save("volumeInstances", found);
      return true;
    },

    volumeDelete({ volumeId }: { volumeId: string }, caller) {
      const volume = store.get("volumes", volumeId);
      if (volume === undefined || volume.deletedAt !== null) throw notFound("Volume");
      requireProject(caller, volume.projectId);
      const instances = store
        .list("volumeInstances")
        .filter((one) => one.volumeId === volumeId && one.deletionAt === null);
      if (instances.length === 0) throw notFound("Volume");
      for (const one of instances) removal.volume(one);
      return true;
    },

    volumeInstanceBackupScheduleUpdate(
      { volumeInstanceId, kinds }: { volumeInstanceId: string; kinds: BackupKind[] },
      caller,
    ) {
      const found = instance(volumeInstanceId);
      requireProject(caller, account.environment(found.environmentId).projectId, found.environmentId);
      found.schedules = [...new Set(kinds)];
      store.save("volumeInstances", found);
      return true;
    },

    volumeInstanceBackupScheduleList({ volumeInstanceId }: { volumeInstanceId: string }, caller) {
      const found = instance(volumeInstanceId);
      requireProject(caller, account.environment(found.environmentId).projectId, found.environmentId);
      return found.schedules.map((kind) => ({
        id: `${found.id}-${kind}`,
        kind,
        name: kind,
        cron: CRON[kind],
        createdAt: found.createdAt,
      }));
    },

    volumeInstanceBackupList({ volumeInstanceId }: { volumeInstanceId: string }, caller) {
      const found = instance(volumeInstanceId);
      requireProject(caller, account.environment(found.environmentId).projectId, found.environmentId);
      return found.backups
        .filter(({ doneAt }) => doneAt <= Date.now())
        .map((backup) => ({ ...backup, externalId: backup.id, volumeInstanceSizeMB: found.sizeMB }));
    },

    volumeInstanceBackupCreate({ volumeInstanceId, name }: { volumeInstanceId: string; name?: string | null }, caller) {
      const found = instance(volumeInstanceId);
      requireProject(caller, account.environment(found.environmentId).projectId, found.environmentId);
      const doneAt = Date.now() + account.delays.backup;
      found.backups.push({ id: randomUUID(), name: name ?? null, createdAt: new Date().toISOString(), doneAt });
      store.save("volumeInstances", found);
      const workflow = store.save("workflows", {
        ...account.born(),
        visibleAt: account.visibleAt(),
        doneAt,
        error: null,
      });
      return { workflowId: workflow.id };
    },

    workflowStatus({ workflowId }: { workflowId: string }) {
      const workflow = store.get("workflows", workflowId);
      if (workflow === undefined || workflow.visibleAt > Date.now()) return { status: "NotFound", error: null };
      if (workflow.error !== null) return { status: "Error", error: workflow.error };
      return { status: workflow.doneAt > Date.now() ? "Running" : "Complete", error: null };
    },
  };
};
