import { randomUUID } from "node:crypto";
import { requireAccount } from "../access.ts";
import { notAuthorized, Refusal } from "../errors.ts";
import type { Resolvers } from "./resolvers.ts";

interface CreateInput {
  readonly projectId: string;
  readonly environmentId: string;
  readonly name: string;
}

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
    if (caller.kind !== "project") throw new Refusal("Project Token not found");
    return { projectId: caller.projectId, environmentId: caller.environmentId };
  },

  /** The token itself, which is shown this once. */
  projectTokenCreate({ input }: { input: CreateInput }, caller) {
    requireAccount(caller);
    account.environmentIn(input.projectId, input.environmentId);
    return account.store.save("projectTokens", { ...account.born(), ...input, value: randomUUID() }).value;
  },
});
