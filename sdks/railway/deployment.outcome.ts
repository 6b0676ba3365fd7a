import type { LiveDeployment } from "./deployment.api.ts";

export type Outcome = "pending" | "done" | "failed";

const FAILED = new Set(["FAILED", "CRASHED", "SKIPPED", "NEEDS_APPROVAL", "REMOVED", "REMOVING"]);

/**
 * How far a deployment is. SUCCESS comes as soon as the container has started; a job is done only when it has stopped
 * as well, and without a crash.
 */
export function outcomeOf(
  { status, deploymentStopped, instances }: LiveDeployment,
  waitFor: "running" | "completed",
): Outcome {
  if (FAILED.has(status)) return "failed";
  if (status !== "SUCCESS") return "pending";
  if (waitFor === "running") return deploymentStopped ? "failed" : "done";
  if (!deploymentStopped) return "pending";
  return instances.some((instance) => instance.status === "CRASHED") ? "failed" : "done";
}

/** In words, for progress and errors. */
export function describe({ status, deploymentStopped, instances }: LiveDeployment): string {
  const states = instances.map((instance) => instance.status).join(", ");
  return [status, ...(deploymentStopped ? ["stopped"] : []), ...(states === "" ? [] : [`(${states})`])].join(" ");
}
