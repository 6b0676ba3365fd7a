import { z } from "zod";
import { waitFor } from "../../clients/retry.ts";
import type { Operation, Railway } from "./client/client.ts";
import { environmentState, type VolumeInstance } from "./client/environment.ts";
import { isRailwayError, unlessGone } from "./client/errors.ts";
import { makeOnce } from "./client/makeOnce.ts";
import { commitPatch } from "./client/patch.ts";
import type { BackupKind } from "./volume.ts";
import type { ServicePlace } from "./inputs.schema.ts";

const create: Operation<{ volumeCreate: { id: string } }> = {
  document: "mutation volumeCreate($input: VolumeCreateInput!) { volumeCreate(input: $input) { id } }",
  data: z.object({ volumeCreate: z.object({ id: z.string() }) }),
};
const rename: Operation<{ volumeUpdate: { id: string } }> = {
  document: `mutation volumeUpdate($volumeId: String!, $name: String!) {
    volumeUpdate(volumeId: $volumeId, input: { name: $name }) { id }
  }`,
  data: z.object({ volumeUpdate: z.object({ id: z.string() }) }),
};
const mount: Operation<{ volumeInstanceUpdate: boolean }> = {
  document: `mutation volumeInstanceUpdate($volumeId: String!, $environmentId: String!, $input: VolumeInstanceUpdateInput!) {
    volumeInstanceUpdate(volumeId: $volumeId, environmentId: $environmentId, input: $input)
  }`,
  data: z.object({ volumeInstanceUpdate: z.boolean() }),
};
const schedule: Operation<{ volumeInstanceBackupScheduleUpdate: boolean }> = {
  document: `mutation volumeInstanceBackupScheduleUpdate($id: String!, $kinds: [VolumeInstanceBackupScheduleKind!]!) {
    volumeInstanceBackupScheduleUpdate(volumeInstanceId: $id, kinds: $kinds)
  }`,
  data: z.object({ volumeInstanceBackupScheduleUpdate: z.boolean() }),
};
const schedules: Operation<{ volumeInstanceBackupScheduleList: { kind: BackupKind }[] }> = {
  document: `query volumeInstanceBackupScheduleList($id: String!) {
    volumeInstanceBackupScheduleList(volumeInstanceId: $id) { kind }
  }`,
  data: z.object({
    volumeInstanceBackupScheduleList: z.array(z.object({ kind: z.enum(["DAILY", "WEEKLY", "MONTHLY"]) })),
  }),
};
const remove: Operation<{ volumeDelete: boolean }> = {
  document: "mutation volumeDelete($volumeId: String!) { volumeDelete(volumeId: $volumeId) }",
  data: z.object({ volumeDelete: z.boolean() }),
};

const of = ({ serviceId }: ServicePlace) => ({ of: `the volume of service ${serviceId}` });

/** One that waits for its deletion, which takes up to two days, is gone for everyone but a person who restores it. */
function isGone({ deletedAt, isPendingDeletion, state }: VolumeInstance): boolean {
  return deletedAt != null || isPendingDeletion || state === "DELETING" || state === "DELETED";
}

/** The volumes of an environment that are not being deleted. */
async function volumes(client: Railway, place: ServicePlace, fresh: boolean): Promise<VolumeInstance[]> {
  const state = await environmentState(client, place, { fresh });
  return (state?.volumes ?? []).filter((volume) => !isGone(volume));
}

export async function findVolume(
  client: Railway,
  place: ServicePlace,
  id: string,
  { fresh = false }: { /** Never what was read before. */ fresh?: boolean } = {},
): Promise<VolumeInstance | undefined> {
  return (await volumes(client, place, fresh)).find(({ volumeId }) => volumeId === id);
}

/** The volume that a service has, if any. */
export async function volumeOf(client: Railway, place: ServicePlace): Promise<VolumeInstance | undefined> {
  return (await volumes(client, place, true)).find(({ serviceId }) => serviceId === place.serviceId);
}

/**
 * Makes a volume of a service and gives its id. The environment is always named: null would put it in none, and without
 * one it would be in all. An empty region makes Railway time out.
 */
export async function createVolume(
  client: Railway,
  place: ServicePlace,
  { mountPath, region }: { mountPath: string; region?: string | undefined },
): Promise<string> {
  const { projectId, environmentId, serviceId } = place;
  const input = { projectId, environmentId, serviceId, mountPath, ...(region ? { region } : {}) };
  return makeOnce(
    async () => (await client.mutateOnce(create, { input }, of(place))).volumeCreate.id,
    async () => (await volumeOf(client, place))?.volumeId,
  );
}

/** Railway shows a new volume after a while, and then has it ready. */
export async function untilReady(client: Railway, place: ServicePlace, id: string): Promise<VolumeInstance> {
  return waitFor(
    async () => {
      const found = await findVolume(client, place, id, { fresh: true });
      if (found === undefined) return { waiting: "Railway does not show it yet" };
      return found.state == null || found.state === "READY" ? { value: found } : { waiting: `it is ${found.state}` };
    },
    {
      what: `the volume of service ${place.serviceId}`,
      deadlineSeconds: 120,
      remedy: "Look at the volume on railway.com, then run the command again.",
    },
  );
}

const MOST_SUFFIXES = 9;

/**
 * Names a volume. A name that is taken, perhaps by one that waits for its deletion, gets a number.
 *
 * @returns the name it has now
 */
export async function nameVolume(
  client: Railway,
  place: ServicePlace,
  volumeId: string,
  wanted: string,
): Promise<string> {
  for (let suffix = 1; ; suffix++) {
    const name = suffix === 1 ? wanted : `${wanted}-${suffix}`;
    try {
      await client.mutateRepeatably(rename, { volumeId, name }, of(place));
      return name;
    } catch (error) {
      if (!isRailwayError(error, "conflict") || suffix === MOST_SUFFIXES) throw error;
    }
  }
}

/** The service is always named as well: without it the volume would be taken away from it. */
export async function mountVolume(
  client: Railway,
  place: ServicePlace,
  volumeId: string,
  mountPath: string,
): Promise<void> {
  const { environmentId, serviceId } = place;
  await client.mutateRepeatably(mount, { volumeId, environmentId, input: { mountPath, serviceId } }, of(place));
}

export async function growVolume(
  client: Railway,
  place: ServicePlace,
  volumeId: string,
  sizeMB: number,
): Promise<void> {
  const patch = { volumes: { [volumeId]: { sizeMB, allowOnlineResize: true } } };
  const message = `volume of ${sizeMB} MB`;
  await commitPatch(client, place.environmentId, patch, { ...of(place), message });
}

export async function readSchedule(
  client: Railway,
  place: ServicePlace,
  volumeInstanceId: string,
): Promise<BackupKind[]> {
  const found = await client.query(schedules, { id: volumeInstanceId }, of(place));
  return found.volumeInstanceBackupScheduleList.map(({ kind }) => kind).sort();
}

export async function setSchedule(
  client: Railway,
  place: ServicePlace,
  volumeInstanceId: string,
  kinds: readonly BackupKind[],
): Promise<void> {
  await client.mutateRepeatably(schedule, { id: volumeInstanceId, kinds }, of(place));
}

export async function deleteVolume(client: Railway, place: ServicePlace, volumeId: string): Promise<void> {
  await unlessGone(client.mutateRepeatably(remove, { volumeId }, of(place)));
}
