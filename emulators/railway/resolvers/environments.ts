import { requireAccount, requireProject } from "../access.ts";
import type { EnvironmentConfig } from "../model.ts";
import { page, type PageArguments } from "../pages.ts";
import type { Resolvers } from "./resolvers.ts";

interface CreateInput {
  readonly name: string;
  readonly projectId: string;
  readonly ephemeral?: boolean | null;
  readonly sourceEnvironmentId?: string | null;
  readonly skipInitialDeploys?: boolean | null;
}

export const environments: Resolvers = ({ account, views, removal, deployments }) => {
  /** A copy has the services of its source, as they are set there; volumes are not copied here. */
  function copyInstances(from: string, to: string, deploy: boolean): void {
    for (const { serviceId, settings, variables, sealed } of account.store.list("instances").filter(isIn(from))) {
      const copy = Object.assign(account.addInstance(serviceId, to), structuredClone({ settings, variables, sealed }));
      account.store.save("instances", copy);
      if (deploy && copy.settings.source?.image != null) deployments.deploy(copy);
    }
  }

  return {
    environment({ id, projectId }: { id: string; projectId?: string | null }, caller) {
      const environment = projectId == null ? account.environment(id) : account.environmentIn(projectId, id);
      requireProject(caller, environment.projectId, id);
      return views.environment(environment);
    },

    environments({ projectId, ...args }: PageArguments & { projectId: string }, caller) {
      requireProject(caller, projectId);
      return page(account.environmentsOf(account.project(projectId).id), args, views.environment);
    },

    environmentCreate({ input }: { input: CreateInput }, caller) {
      requireAccount(caller);
      account.project(input.projectId);
      const { sourceEnvironmentId } = input;
      const source =
        sourceEnvironmentId == null ? undefined : account.environmentIn(input.projectId, sourceEnvironmentId);
      const environment = account.store.save("environments", {
        ...account.born(),
        projectId: input.projectId,
        name: input.name,
        isEphemeral: input.ephemeral ?? false,
        isFork: source !== undefined,
        sharedVariables: { ...source?.sharedVariables },
        staged: null,
      });
      // A service is in every environment that is not a fork.
      if (source === undefined) {
        for (const { id } of account.servicesOf(input.projectId)) account.addInstance(id, environment.id);
      } else copyInstances(source.id, environment.id, input.skipInitialDeploys !== true);
      return views.environment(environment);
    },

    environmentRename({ id, input }: { id: string; input: { name: string } }, caller) {
      requireAccount(caller);
      const environment = account.environment(id);
      environment.name = input.name;
      return views.environment(account.store.save("environments", environment));
    },

    async environmentDelete({ id }: { id: string }, caller) {
      requireAccount(caller);
      await removal.environment(account.environment(id));
      return true;
    },

    environmentStagedChanges({ environmentId }: { environmentId: string }, caller) {
      const environment = account.environment(environmentId);
      requireProject(caller, environment.projectId, environmentId);
      return patch(environmentId, environment.staged ?? {});
    },

    environmentStageChanges({ environmentId, input }: { environmentId: string; input: EnvironmentConfig }, caller) {
      const environment = account.environment(environmentId);
      requireProject(caller, environment.projectId, environmentId);
      environment.staged = input;
      account.store.save("environments", environment);
      return patch(environmentId, input);
    },
  };
};

const isIn =
  (environmentId: string) =>
  (one: { environmentId: string }): boolean =>
    one.environmentId === environmentId;

function patch(environmentId: string, changes: EnvironmentConfig): object {
  const now = new Date().toISOString();
  return { id: environmentId, environmentId, patch: changes, status: "STAGED", createdAt: now, updatedAt: now };
}
