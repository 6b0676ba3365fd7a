import { requireAccount, requireProject } from "../access.ts";
import { Refusal } from "../errors.ts";
import { page, type PageArguments } from "../pages.ts";
import type { Resolvers } from "./resolvers.ts";

interface ProjectInput {
  readonly name?: string | null;
  readonly description?: string | null;
  readonly isPublic?: boolean | null;
  readonly prDeploys?: boolean | null;
}

interface ListArguments extends PageArguments {
  readonly workspaceId?: string | null;
  readonly includeDeleted?: boolean | null;
}

export const projects: Resolvers = ({ account, views, removal }) => ({
  project({ id }: { id: string }, caller) {
    requireProject(caller, id);
    return views.project(account.project(id));
  },

  projects({ workspaceId, includeDeleted, ...args }: ListArguments, caller) {
    requireAccount(caller);
    if (workspaceId != null && workspaceId !== account.workspaceId) throw new Refusal("Not Authorized");
    const listed = account.store.list("projects").filter((one) => includeDeleted === true || one.deletionAt === null);
    return page(listed, args, views.project);
  },

  projectCreate(
    { input }: { input: ProjectInput & { workspaceId?: string | null; defaultEnvironmentName?: string | null } },
    caller,
  ) {
    requireAccount(caller);
    if (input.workspaceId != null && input.workspaceId !== account.workspaceId) throw new Refusal("Not Authorized");
    const project = account.store.save("projects", {
      ...account.born(),
      name: input.name ?? "a project",
      description: input.description ?? null,
      isPublic: input.isPublic ?? false,
      prDeploys: input.prDeploys ?? false,
      workspaceId: input.workspaceId ?? null,
      deletionAt: null,
    });
    account.store.save("environments", {
      ...account.born(),
      projectId: project.id,
      name: input.defaultEnvironmentName ?? "production",
      isEphemeral: false,
      isFork: false,
      sharedVariables: {},
      staged: null,
    });
    return views.project(project);
  },

  projectUpdate({ id, input }: { id: string; input: ProjectInput }, caller) {
    requireProject(caller, id);
    const project = account.project(id);
    if (input.name != null) project.name = input.name;
    if (input.description !== undefined) project.description = input.description;
    project.isPublic = input.isPublic ?? project.isPublic;
    project.prDeploys = input.prDeploys ?? project.prDeploys;
    return views.project(account.store.save("projects", project));
  },

  async projectDelete({ id }: { id: string }, caller) {
    requireAccount(caller);
    await removal.project(account.project(id));
    return true;
  },

  projectScheduleDelete({ id }: { id: string }, caller) {
    requireAccount(caller);
    removal.scheduleProject(account.project(id));
    return true;
  },
});
