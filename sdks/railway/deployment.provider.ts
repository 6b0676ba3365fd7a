import { z } from "zod";
import { UserError } from "../../clients/errors.ts";
import { redact } from "../../clients/redact.ts";
import { waitFor } from "../../clients/retry.ts";
import { checkInputs, hasUnknown, PartialFailure, type Provider } from "../../providers/provider.ts";
import { sameValue } from "../../providers/sameValue.ts";
import { configure, railway, type Railway } from "./client/client.ts";
import { environmentState } from "./client/environment.ts";
import * as api from "./deployment.api.ts";
import { describe, outcomeOf } from "./deployment.outcome.ts";

export interface DeploymentInputs extends api.DeploymentPlace {
  triggers?: Record<string, string>;
  waitFor: "running" | "completed";
  timeoutSeconds?: number;
  backupBefore?: { volumeInstanceId: string; name: string };
  what?: string;
}

export interface DeploymentOutputs extends DeploymentInputs {
  deploymentId: string;
  status: string;
  url?: string;
}

const text = z.string({ error: "must be a text" }).min(1, { error: "must not be empty" });
const schema = z.object({
  projectId: text,
  environmentId: text,
  serviceId: text,
  triggers: z.record(z.string(), z.string({ error: "must be a text" })).optional(),
  waitFor: z.enum(["running", "completed"], { error: "must be running or completed" }),
  timeoutSeconds: z
    .int({ error: "must be a whole number of seconds" })
    .min(1, { error: "must be 1 or more" })
    .optional(),
  backupBefore: z.object({ volumeInstanceId: text, name: text }).optional(),
  what: text.optional(),
});

const TIMEOUT_SECONDS = 1_200;
/** In the state of one that has failed: the next run deploys again, whatever has changed. */
const AGAIN = "";

const provider: Provider<DeploymentInputs, DeploymentOutputs> = {
  configure,

  async check(_olds, news) {
    return checkInputs(schema, news);
  },

  async diff(_id, olds, news) {
    const replaces = (["environmentId", "serviceId"] as const).filter((name) => olds[name] !== news[name]);
    // The rest only says how to wait for the next one.
    const changes =
      replaces.length > 0 ||
      olds.deploymentId === AGAIN ||
      hasUnknown(news.triggers) ||
      !sameValue(olds.triggers, news.triggers);
    return { changes, replaces };
  },

  async create(inputs) {
    const client = railway();
    const id = `${inputs.serviceId}:${inputs.environmentId}`;
    const deploymentId = await deployed(client, inputs);
    return { id, outs: await awaited(client, id, deploymentId, inputs) };
  },

  async read(id, props) {
    const client = railway();
    const state = await environmentState(client, props);
    const instance = state?.instances.find(({ serviceId }) => serviceId === props.serviceId);
    if (instance === undefined) return {};
    const live = instance.latestDeployment;
    // Railway deploys by itself too, when it moves hosts: the latest one is it, whoever made it.
    if (live == null) return { id, props: { ...props, deploymentId: AGAIN, status: "none" } };
    return { id, props: { ...props, ...seen(live), ...(isLost(live, props) && { deploymentId: AGAIN }) } };
  },

  async update(id, olds, news) {
    const client = railway();
    if (olds.deploymentId !== AGAIN && sameValue(olds.triggers, news.triggers)) {
      return { outs: { ...olds, ...news } };
    }
    if (news.backupBefore !== undefined && olds.deploymentId !== AGAIN) {
      const { volumeInstanceId, name } = news.backupBefore;
      await api.backUp(client, volumeInstanceId, name);
    }
    return { outs: await awaited(client, id, await deployed(client, news), news) };
  },

  /** Whatever runs goes with its service. */
  async delete() {},
};

export default provider;

async function deployed(client: Railway, inputs: DeploymentInputs): Promise<string> {
  return api.startDeployment(client, inputs, nameOf(inputs));
}

/** Waits for a deployment. One that fails stays in state, so that the next run makes another one. */
async function awaited(
  client: Railway,
  id: string,
  deploymentId: string,
  inputs: DeploymentInputs,
): Promise<DeploymentOutputs> {
  const what = nameOf(inputs);
  try {
    const live = await untilOver(client, deploymentId, inputs);
    if (outcomeOf(live, inputs.waitFor) === "done") return { ...inputs, ...seen(live) };
    throw new UserError(await explained(client, live, inputs));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const outs = { ...inputs, deploymentId: AGAIN, status: "failed" };
    throw new PartialFailure(id, outs, [`${what}: ${error.message}`]);
  }
}

async function untilOver(client: Railway, deploymentId: string, inputs: DeploymentInputs): Promise<api.LiveDeployment> {
  const { waitFor: goal, timeoutSeconds = TIMEOUT_SECONDS } = inputs;
  const what = nameOf(inputs);
  let isSecondLook = false;
  return waitFor(
    async () => {
      const live = await api.readDeployment(client, deploymentId, what);
      if (live === undefined) throw new UserError(`its deployment ${deploymentId} is gone. Run the command again.`);
      if (outcomeOf(live, goal) === "pending") return { waiting: describe(live) };
      // A job that has just stopped may still turn out to have crashed.
      if (goal === "completed" && live.status === "SUCCESS" && !isSecondLook) {
        isSecondLook = true;
        return { waiting: describe(live) };
      }
      return { value: live };
    },
    {
      what: `${what} to be ${goal} on Railway`,
      deadlineSeconds: timeoutSeconds,
      everyMilliseconds: 1_500,
      remedy:
        "Look at its deployment on railway.com; a longer time can be given (lakekeeper:railway.deployTimeoutSeconds).",
    },
  );
}

/** What Railway says of a failed deployment, and the end of its log, without the values of the service's variables. */
async function explained(client: Railway, live: api.LiveDeployment, inputs: DeploymentInputs): Promise<string> {
  const what = nameOf(inputs);
  const { errors, log } = await api.failureOf(client, live.id, what);
  const secrets = await api.renderedVariables(client, inputs, what);
  const lines = [
    `its deployment ${live.id} is ${describe(live)}.`,
    ...errors,
    ...(log.length === 0 ? [] : ["Its log ends with:", ...log.map((line) => `  ${line}`)]),
    "What ran before goes on running. Mend the cause, then run the command again.",
  ];
  return redact(lines.join("\n"), secrets.filter(isSecret));
}

/** Short values and those that are everywhere would make the log unreadable. */
function isSecret(value: string): boolean {
  return value.length >= 8 && !/^[\d.]+$|^https?:\/\/[^@]*$|^\/[\w/.-]*$/.test(value);
}

function seen({ id, status, url }: { id: string; status: string; url?: string | null | undefined }): {
  deploymentId: string;
  status: string;
  url?: string;
} {
  return { deploymentId: id, status, ...(url != null && { url }) };
}

/** A service that should be running and is not has to be deployed again; a job has done its work. */
function isLost(
  { status, deploymentStopped }: { status: string; deploymentStopped: boolean },
  props: DeploymentInputs,
): boolean {
  if (props.waitFor === "completed") return false;
  return ["CRASHED", "FAILED", "REMOVED"].includes(status) || (status === "SUCCESS" && deploymentStopped);
}

function nameOf({ what, serviceId }: DeploymentInputs): string {
  return what ?? serviceId;
}
