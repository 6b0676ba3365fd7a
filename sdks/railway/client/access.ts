import { z } from "zod";
import { UserError } from "../../../clients/errors.ts";
import type { Operation, Railway } from "./client.ts";
import { isRailwayError } from "./errors.ts";
import type { RailwayToken } from "./settings.ts";

const workspacesQuery: Operation<{ apiToken: { workspaces: { id: string; name: string }[] } }> = {
  document: "query apiToken { apiToken { workspaces { id name } } }",
  data: z.object({ apiToken: z.object({ workspaces: z.array(z.object({ id: z.string(), name: z.string() })) }) }),
};

const projectTokenQuery: Operation<{ projectToken: { projectId: string; environmentId: string } }> = {
  document: "query projectToken { projectToken { projectId environmentId } }",
  data: z.object({ projectToken: z.object({ projectId: z.string(), environmentId: z.string() }) }),
};

/** What the token at hand is for. */
export type Access =
  | { readonly kind: "account"; readonly workspaces: readonly { readonly id: string; readonly name: string }[] }
  | { readonly kind: "project"; readonly projectId: string; readonly environmentId: string };

/** Asks Railway what the token is for. A token that it refuses is tried as the other kind, to say what is wrong. */
export async function readAccess(client: Railway): Promise<Access> {
  const { token } = client.settings;
  try {
    return await accessOf(client, token);
  } catch (error) {
    if (token === undefined || !isRailwayError(error, "notAuthorized", "notFound")) throw error;
    const other = { ...token, kind: token.kind === "account" ? "project" : "account" } as const;
    const isOther = await accessOf(client, other).then(
      () => true,
      () => false,
    );
    throw new UserError(`${isOther ? wrongKind(token) : invalid(token)} (${error.message})`);
  }
}

async function accessOf(client: Railway, token: RailwayToken | undefined): Promise<Access> {
  const options = { of: `the token of ${token?.from ?? "the stack"}`, ...(token && { token }) };
  if (token?.kind === "project") {
    const { projectToken } = await client.query(projectTokenQuery, {}, options);
    return { kind: "project", ...projectToken };
  }
  const { apiToken } = await client.query(workspacesQuery, {}, options);
  return { kind: "account", workspaces: apiToken.workspaces };
}

function wrongKind({ kind, from }: RailwayToken): string {
  return kind === "account"
    ? `The token in ${from} is a project token, which is sent in another way: give it as railway:projectToken or RAILWAY_TOKEN. ` +
        "It reaches its own, existing project only; to make a project, an account or workspace token is needed."
    : `The token in ${from} is an account or workspace token, which is sent in another way: give it as railway:token or RAILWAY_API_TOKEN.`;
}

function invalid({ kind, from }: RailwayToken): string {
  return kind === "account"
    ? `Railway does not accept the account or workspace token in ${from}. Make a new one (Railway: Account Settings > Tokens) and set it.`
    : `Railway does not accept the project token in ${from}. Make a new one (Railway: the project's Settings > Tokens) and set it.`;
}
