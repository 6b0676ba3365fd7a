import { z } from "zod";
import { UserError } from "../../clients/errors.ts";
import { checkInputs, hasUnknown, isUnknown, PartialFailure, type Provider } from "../../providers/provider.ts";
import { sameValue } from "../../providers/sameValue.ts";
import { configure, railway, type Railway } from "./client/client.ts";
import type { VolumeInstance } from "./client/environment.ts";
import { servicePlace, text, type ServicePlace } from "./inputs.schema.ts";
import * as api from "./volume.api.ts";
import type { BackupKind } from "./volume.ts";

export interface VolumeInputs extends ServicePlace {
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

const schema = z.object({
  ...servicePlace,
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

  async check(_olds, news) {
    return checkInputs(schema, news);
  },

  async diff(_id, olds, news) {
    refuse(refusals(olds, news));
    const changes =
      hasUnknown(news) ||
      olds.serviceId !== news.serviceId ||
      olds.mountPath !== news.mountPath ||
      olds.name !== news.name ||
      (news.name !== undefined && !isNamed(olds.observedName, news.name)) ||
      (news.sizeMB !== undefined && olds.sizeMB !== news.sizeMB) ||
      !sameValue(scheduleOf(olds), scheduleOf(news));
    return { changes, replaces: [] };
  },

  async create(inputs) {
    const client = railway();
    const there = await api.volumeOf(client, inputs);
    if (there !== undefined) {
      console.log(`adopting the volume "${there.volume.name}" (${there.volumeId}), which the service has already`);
    }
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

  async update(id, olds, news) {
    refuse(refusals(olds, news));
    const client = railway();
    if ((await api.findVolume(client, olds, id, { fresh: true })) === undefined) {
      throw new UserError(
        `The volume "${olds.observedName}" (${id}) is deleted or waits for its deletion. Railway restores it for two days, by the link in ` +
          "its e-mail; `pulumi up --refresh` makes a new one, which is empty.",
      );
    }
    return { outs: await converge(client, id, news) };
  },

  /** Railway keeps it for up to two days, in which a person can restore it. */
  async delete(id, props) {
    const client = railway();
    if ((await api.findVolume(client, props, id)) !== undefined) await api.deleteVolume(client, props, id);
  },
};

export default provider;

function refuse(reasons: readonly string[]): void {
  if (reasons.length > 0) throw new UserError(reasons.join("\n"));
}

/** What would lose the data. A volume is never replaced for it. */
function refusals(live: Partial<VolumeInputs>, news: VolumeInputs): string[] {
  const refused: string[] = [];
  for (const name of ["projectId", "environmentId"] as const) {
    if (live[name] !== undefined && !isUnknown(news[name]) && live[name] !== news[name]) {
      refused.push(
        `${name} cannot go from ${live[name]} to ${news[name]}: a volume stays where it is, and another one would be empty. ` +
          "Restore a backup there instead, and have the stack forget this volume (pulumi state delete).",
      );
    }
  }
  if (live.region !== undefined && news.region !== undefined && live.region !== news.region) {
    refused.push(
      `region cannot go from ${live.region} to ${news.region}: that moves the data while the service is down. ` +
        `Keep it at ${live.region}, or move the volume on railway.com and then run \`pulumi up --refresh\`.`,
    );
  }
  if (live.sizeMB !== undefined && news.sizeMB !== undefined && news.sizeMB < live.sizeMB) {
    refused.push(
      `sizeMB cannot go from ${live.sizeMB} down to ${news.sizeMB}: a volume only grows. Set it to ${live.sizeMB} or leave it out.`,
    );
  }
  return refused;
}

/** Goes on from what is there, step by step; a failure keeps the volume in state, as it was found. */
async function converge(client: Railway, id: string, inputs: VolumeInputs): Promise<VolumeOutputs> {
  const outs: VolumeOutputs = { ...inputs, volumeInstanceId: "", observedName: "" };
  let found: Partial<VolumeOutputs> = {};
  try {
    const live = await api.untilReady(client, inputs, id);
    outs.volumeInstanceId = live.id;
    outs.observedName = live.volume.name;
    const { region, sizeMB } = live;
    found = {
      ...(inputs.region !== undefined && region != null && { region }),
      ...(inputs.sizeMB !== undefined && { sizeMB }),
    };
    // One that was there already, or has the plan's defaults, may be another than is wanted.
    refuse(refusals(found, inputs));
    if (live.serviceId !== inputs.serviceId || live.mountPath !== inputs.mountPath) {
      await api.mountVolume(client, inputs, id, inputs.mountPath);
    }
    if (inputs.name !== undefined && !isNamed(live.volume.name, inputs.name)) {
      outs.observedName = await api.nameVolume(client, inputs, id, inputs.name);
    }
    if (inputs.sizeMB !== undefined && sizeMB < inputs.sizeMB) {
      await api.growVolume(client, inputs, id, inputs.sizeMB);
    }
    const wanted = scheduleOf(inputs);
    if (!sameValue(await api.readSchedule(client, inputs, live.id), wanted)) {
      await api.setSchedule(client, inputs, live.id, wanted);
    }
    return outs;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    // Without a path in the state the next run finds a difference, and goes on.
    throw new PartialFailure(id, { ...outs, ...found, mountPath: "" }, [error.message]);
  }
}

function observed(props: VolumeOutputs, live: VolumeInstance, backupSchedule: BackupKind[]): VolumeOutputs {
  return {
    ...props,
    mountPath: live.mountPath,
    serviceId: live.serviceId ?? "",
    ...(props.sizeMB !== undefined && { sizeMB: live.sizeMB }),
    ...(props.region !== undefined && live.region != null && { region: live.region }),
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
