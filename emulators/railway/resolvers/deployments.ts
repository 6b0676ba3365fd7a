import { requireProject } from "../access.ts";
import { notFound } from "../errors.ts";
import type { Deployment } from "../model.ts";
import { page, type PageArguments } from "../pages.ts";
import type { Resolvers } from "./resolvers.ts";

interface Place {
  readonly environmentId: string;
  readonly serviceId: string;
}

interface ListInput {
  readonly projectId?: string | null;
  readonly environmentId?: string | null;
  readonly serviceId?: string | null;
  readonly status?: { readonly in?: string[] | null; readonly notIn?: string[] | null } | null;
}

interface LogsQuery {
  readonly deploymentId: string;
  readonly limit?: number | null;
  /** A text that the message holds. */
  readonly filter?: string | null;
  readonly startDate?: string | null;
  readonly endDate?: string | null;
}

const USUAL_LOG_LINES = 100;

export const deployments: Resolvers = ({ account, deployments: all, views }) => {
  function deployment(id: string): Deployment {
    const found = account.store.get("deployments", id);
    if (found === undefined || found.deletedAt !== null) throw notFound("Deployment");
    return found;
  }

  return {
    deployment({ id }: { id: string }, caller) {
      const found = deployment(id);
      requireProject(caller, found.projectId, found.environmentId);
      return views.deployment(found);
    },

    deployments({ input, ...args }: PageArguments & { input: ListInput }, caller) {
      requireProject(caller, input.projectId ?? "", input.environmentId ?? "");
      if (input.projectId != null) account.project(input.projectId);
      if (input.environmentId != null) account.environment(input.environmentId);
      if (input.serviceId != null) account.service(input.serviceId);
      const { status } = input;
      const found = account.store
        .list("deployments")
        .filter(
          (one) =>
            (["projectId", "environmentId", "serviceId"] as const).every(
              (key) => input[key] == null || input[key] === one[key],
            ) &&
            (status?.in?.includes(one.status) ?? true) &&
            !(status?.notIn?.includes(one.status) ?? false),
        );
      return page(found.reverse(), args, views.deployment);
    },

    deploymentEvents({ id, ...args }: PageArguments & { id: string }, caller) {
      const found = deployment(id);
      requireProject(caller, found.projectId, found.environmentId);
      return page(found.events, args, (event) => event);
    },

    /** One line more than asked for, as Railway's does. */
    deploymentLogs({ deploymentId, limit, filter, startDate, endDate }: LogsQuery, caller) {
      const found = deployment(deploymentId);
      requireProject(caller, found.projectId, found.environmentId);
      const lines = account.store
        .logs(deploymentId)
        .filter(({ message }) => message.includes(filter ?? ""))
        .filter(({ timestamp }) => timestamp >= iso(startDate, "0000") && timestamp <= iso(endDate, "9999"));
      return lines.slice(-(limit ?? USUAL_LOG_LINES) - 1).map((line) => ({ ...line, attributes: [] }));
    },

    serviceInstanceDeployV2({ serviceId, environmentId }: Place, caller) {
      requireProject(caller, account.service(serviceId).projectId, environmentId);
      return all.deploy(account.instance(serviceId, environmentId)).id;
    },

    /** The latest deployment once more, as it was. */
    serviceInstanceRedeploy({ serviceId, environmentId }: Place, caller) {
      requireProject(caller, account.service(serviceId).projectId, environmentId);
      const instance = account.instance(serviceId, environmentId);
      const [latest] = all.of(instance);
      if (latest === undefined) throw notFound("Deployment");
      all.deploy({ ...instance, settings: latest.settings });
      return true;
    },

    async deploymentRemove({ id }: { id: string }, caller) {
      const found = deployment(id);
      requireProject(caller, found.projectId, found.environmentId);
      await all.remove(found);
      return true;
    },

    async deploymentStop({ id }: { id: string }, caller) {
      const found = deployment(id);
      requireProject(caller, found.projectId, found.environmentId);
      await all.stop(found);
      return true;
    },
  };
};

/** To be compared with others as text. */
function iso(date: string | null | undefined, otherwise: string): string {
  return date == null ? otherwise : new Date(date).toISOString();
}
