import { z } from "zod";
import { UserError } from "../../clients/errors.ts";
import { waitFor } from "../../clients/retry.ts";
import { checkInputs, hasUnknown, PartialFailure, type Provider } from "../../providers/provider.ts";
import { sameValue } from "../../providers/sameValue.ts";
import { configure, railway, type Railway } from "./client/client.ts";
import { environmentState } from "./client/environment.ts";
import * as api from "./deployment.api.ts";
import { explain } from "./deployment.explain.ts";
import { describe, outcomeOf } from "./deployment.outcome.ts";
import { servicePlace, text, type ServicePlace } from "./inputs.schema.ts";

export interface DeploymentInputs extends ServicePlace {
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

const schema = z.object({
  ...servicePlace,
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

/** Statuses in the state that are not Railway's: each has the next run do something, whatever else has changed. */
const OPEN = "open"; // Still under way when the waiting ended: it is waited for again.
const FAILED = "failed"; // Deployed again, without another backup: there is one of before the first try.
const LOST = "lost"; // It ran once and does not any more.

const provider: Provider<DeploymentInputs, DeploymentOutputs> = {
  configure,

  async check(_olds, news) {
    return checkInputs(schema, news);
  },

  async diff(_id, olds, news) {
    const replaces = (["environmentId", "serviceId"] as const).filter((name) => olds[name] !== news[name]);
    // The rest only says how to wait for the next one.
    const changes =
      replaces.length > 0 || isUnsettled(olds) || hasUnknown(news.triggers) || !sameValue(olds.triggers, news.triggers);
    return { changes, replaces };
  },

  async create(inputs) {
    const client = railway();
    const id = `${inputs.serviceId}:${inputs.environmentId}`;
    return { id, outs: await awaited(client, id, await deployed(client, inputs), inputs) };
  },

  async read(id, props) {
    const state = await environmentState(railway(), props);
    const instance = state?.instances.find(({ serviceId }) => serviceId === props.serviceId);
    // A service that was made a moment ago shows up before its instance does.
    if (instance === undefined)
      return state?.services.some(({ id: one }) => one === props.serviceId) ? { id, props } : {};
    if (isUnsettled(props)) return { id, props };
    const live = instance.latestDeployment;
    // Railway deploys by itself too, when it moves hosts: the latest one is it, whoever made it.
    if (live == null) return { id, props: { ...props, status: LOST } };
    return { id, props: { ...props, ...seen(live), ...(isLost(live, props) && { status: LOST }) } };
  },

  async update(id, olds, news) {
    const client = railway();
    if (sameValue(olds.triggers, news.triggers)) {
      const { deploymentId, status, url } = olds;
      if (!isUnsettled(olds)) return { outs: { ...news, deploymentId, status, ...(url !== undefined && { url }) } };
      if (status === OPEN && (await mayStillSucceed(client, deploymentId, news))) {
        return { outs: await awaited(client, id, deploymentId, news) };
      }
    }
    if (news.backupBefore !== undefined && olds.status !== FAILED) {
      const { volumeInstanceId, name } = news.backupBefore;
      await api.backUp(client, volumeInstanceId, name);
    }
    return { outs: await awaited(client, id, await deployed(client, news), news) };
  },

  /** Whatever runs goes with its service. */
  async delete() {},
};

export default provider;

function isUnsettled({ status }: DeploymentOutputs): boolean {
  return [OPEN, FAILED, LOST].includes(status);
}

async function deployed(client: Railway, inputs: DeploymentInputs): Promise<string> {
  return api.startDeployment(client, inputs, nameOf(inputs));
}

async function mayStillSucceed(client: Railway, deploymentId: string, inputs: DeploymentInputs): Promise<boolean> {
  const live = await api.readDeployment(client, deploymentId, nameOf(inputs));
  return live !== undefined && outcomeOf(live, inputs.waitFor) !== "failed";
}

/** Waits for a deployment. The state says what the next run has to do when it fails, or when the waiting does. */
async function awaited(
  client: Railway,
  id: string,
  deploymentId: string,
  inputs: DeploymentInputs,
): Promise<DeploymentOutputs> {
  const live = await untilOver(client, deploymentId, inputs).catch((error: unknown) => {
    if (!(error instanceof Error)) throw error;
    throw new PartialFailure(id, { ...inputs, deploymentId, status: OPEN }, [`${nameOf(inputs)}: ${error.message}`]);
  });
  if (outcomeOf(live, inputs.waitFor) === "done") return { ...inputs, ...seen(live) };
  const reason = await explained(client, live, inputs);
  throw new PartialFailure(id, { ...inputs, ...seen(live), status: FAILED }, [`${nameOf(inputs)}: ${reason}`]);
}

async function untilOver(client: Railway, deploymentId: string, inputs: DeploymentInputs): Promise<api.LiveDeployment> {
  const { waitFor: goal, timeoutSeconds = TIMEOUT_SECONDS } = inputs;
  const what = nameOf(inputs);
  let current = deploymentId;
  let isSecondLook = false;
  return waitFor(
    async () => {
      const live = await api.readDeployment(client, current, what);
      if (live === undefined) throw new UserError(`its deployment ${current} is gone. Run the command again.`);
      // One that another one has taken the place of says nothing about the service any more.
      const next = await api.successorOf(client, live, inputs, what);
      if (next !== undefined) {
        current = next.id;
        return { waiting: `deployment ${next.id} has taken the place of ${live.id}` };
      }
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
        "Look at its deployment on railway.com; the next run goes on waiting for it. " +
        "A longer time can be given (lakekeeper:railway.deployTimeoutSeconds).",
    },
  );
}

/** What Railway says of a failed deployment. The log is told only where what must not be seen in it is known. */
async function explained(client: Railway, live: api.LiveDeployment, inputs: DeploymentInputs): Promise<string> {
  const what = nameOf(inputs);
  try {
    const variables = await api.renderedVariables(client, inputs, what);
    return explain(live, { ...(await api.readStory(client, live.id, what)), variables });
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return `${explain(live, { errors: [], log: [], variables: {} })} Its log is on railway.com: ${error.message}`;
  }
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
