import { z } from "zod";
import { UserError } from "../../clients/errors.ts";
import {
  checkFailure,
  checkInputs,
  hasUnknown,
  isUnknown,
  PartialFailure,
  type Provider,
} from "../../providers/provider.ts";
import { sameValue } from "../../providers/sameValue.ts";
import { configure, railway, type Railway } from "./client/client.ts";
import type { VolumeInstance } from "./client/environment.ts";
import * as api from "./volume.api.ts";
import type { BackupKind } from "./volume.ts";

export interface VolumeInputs extends api.VolumePlace {
  mountPath: string;
  name?: string;
  region?: string;
  sizeMB?: number;
  backupSchedule?: BackupKind[];
}

export interface VolumeOutputs extends VolumeInputs {
  volumeInstanceId: string;
  /** The name that it has, which may have a number more than the one asked for. */
  observedName: string;
}

const text = z.string({ error: "must be a text" }).min(1, { error: "must not be empty" });
const schema = z.object({
  projectId: text,
  environmentId: text,
  serviceId: text,
  mountPath: z.string().regex(/^\/\S+$/, { error: "must be an absolute path" }),
  name: text.optional(),
  region: text.optional(),
  sizeMB: z.int({ error: "must be a whole number of MB" }).min(1, { error: "must be 1 or more" }).optional(),
  backupSchedule: z
    .array(z.enum(["DAILY", "WEEKLY", "MONTHLY"], { error: "must be DAILY, WEEKLY or MONTHLY" }))
    .optional(),
});

const provider: Provider<VolumeInputs, VolumeOutputs> = {
  configure,

  async check(olds, news) {
    const result = checkInputs(schema, news);
    result.failures.push(...refusals(olds, news).map(checkFailure));
    return result;
  },

  async diff(_id, olds, news) {
    const refused = refusals(olds, news);
    if (refused.length > 0) throw new UserError(refused.join("\n"));
    const changes =
      hasUnknown(news) ||
      olds.serviceId !== news.serviceId ||
      olds.mountPath !== news.mountPath ||
      olds.name !== news.name ||
      (news.name !== undefined && !isNamed(olds.observedName, news.name)) ||
      (news.sizeMB !== undefined && olds.sizeMB !== news.sizeMB) ||
      !sameValue(scheduleOf(olds), scheduleOf(news));
    return { changes };
  },

  async create(inputs) {
    const client = railway();
    const there = await api.volumeOf(client, inputs);
    const id = there?.volumeId ?? (await api.createVolume(client, inputs, inputs));
    return { id, outs: await converge(client, id, inputs) };
  },

  async read(id, props) {
    const client = railway();
    const live = await api.findVolume(client, props, id);
    if (live === undefined) return {};
    const backupSchedule = await api.readSchedule(client, props, live.id);
    return { id, props: observed(props, live, backupSchedule) };
  },

  async update(id, _olds, news) {
    return { outs: await converge(railway(), id, news) };
  },

  /** Railway keeps it for up to two days, in which a person can restore it. */
  async delete(id, props) {
    const client = railway();
    if ((await api.findVolume(client, props, id)) !== undefined) await api.deleteVolume(client, props, id);
  },
};

export default provider;

/** What would lose the data. A volume is never replaced for it. */
function refusals(olds: Partial<VolumeInputs>, news: VolumeInputs): string[] {
  const refused: string[] = [];
  for (const name of ["projectId", "environmentId"] as const) {
    if (olds[name] !== undefined && !isUnknown(news[name]) && olds[name] !== news[name]) {
      refused.push(
        `${name} cannot go from ${olds[name]} to ${news[name]}: a volume stays where it is, and another one would be empty. ` +
          "Restore a backup there instead, and have the stack forget this volume (pulumi state delete).",
      );
    }
  }
  if (olds.region !== undefined && news.region !== undefined && olds.region !== news.region) {
    refused.push(
      `region cannot go from ${olds.region} to ${news.region}: that moves the data while the service is down. ` +
        "Move the volume on railway.com, then change the setting and run refresh.",
    );
  }
  if (olds.sizeMB !== undefined && news.sizeMB !== undefined && news.sizeMB < olds.sizeMB) {
    refused.push(
      `sizeMB cannot go from ${olds.sizeMB} down to ${news.sizeMB}: a volume only grows. Keep it at ${olds.sizeMB}.`,
    );
  }
  return refused;
}

/** Goes on from what is there, step by step; a failure keeps the volume in state. */
async function converge(client: Railway, id: string, inputs: VolumeInputs): Promise<VolumeOutputs> {
  let reached: VolumeOutputs = { ...inputs, volumeInstanceId: "", observedName: "" };
  try {
    const live = await api.untilReady(client, inputs, id);
    reached = { ...reached, volumeInstanceId: live.id, observedName: live.volume.name };
    if (live.serviceId !== inputs.serviceId || live.mountPath !== inputs.mountPath) {
      await api.mountVolume(client, inputs, id, inputs.mountPath);
    }
    if (inputs.name !== undefined && !isNamed(live.volume.name, inputs.name)) {
      reached = { ...reached, observedName: await api.nameVolume(client, inputs, id, inputs.name) };
    }
    if (inputs.sizeMB !== undefined && live.sizeMB < inputs.sizeMB) {
      await api.growVolume(client, inputs, id, inputs.sizeMB);
    }
    const wanted = scheduleOf(inputs);
    if (!sameValue(await api.readSchedule(client, inputs, live.id), wanted)) {
      await api.setSchedule(client, inputs, live.id, wanted);
    }
    return reached;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    // Without a path in the state the next run finds a difference, and goes on.
    throw new PartialFailure(id, { ...reached, mountPath: "" }, [error.message]);
  }
}

function observed(props: VolumeOutputs, live: VolumeInstance, backupSchedule: BackupKind[]): VolumeOutputs {
  return {
    ...props,
    mountPath: live.mountPath,
    serviceId: live.serviceId ?? "",
    ...(props.sizeMB !== undefined && { sizeMB: live.sizeMB }),
    backupSchedule,
    volumeInstanceId: live.id,
    observedName: live.volume.name,
  };
}

function scheduleOf({ backupSchedule = [] }: { backupSchedule?: BackupKind[] }): BackupKind[] {
  return [...backupSchedule].sort();
}

/** Also with a number, when the name itself was taken. */
function isNamed(name: string, wanted: string): boolean {
  return name === wanted || (name.startsWith(`${wanted}-`) && /^\d$/.test(name.slice(wanted.length + 1)));
}
