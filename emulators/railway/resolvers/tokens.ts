import { notAuthorized } from "../errors.ts";
import type { Resolvers } from "./resolvers.ts";

/** What a token is for, which is also how it is seen to be alive. */
export const tokens: Resolvers = ({ account }) => ({
  apiToken(_args, caller) {
    if (caller.kind === "project") throw notAuthorized();
    return { workspaces: [{ id: account.workspaceId, name: "stand-in" }] };
  },

  me(_args, caller) {
    if (caller.kind !== "account") throw notAuthorized();
    return { id: "00000000-0000-4000-8000-000000000000" };
  },

  projectToken(_args, caller) {
    if (caller.kind !== "project") throw notAuthorized();
    return { projectId: caller.projectId, environmentId: caller.environmentId };
  },
});
