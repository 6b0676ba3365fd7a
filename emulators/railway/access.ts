import type { IncomingHttpHeaders } from "node:http";
import { notAuthorized } from "./errors.ts";
import type { ProjectToken } from "./model.ts";

export interface Tokens {
  /** Sees every workspace of its user. */
  readonly account: string;
  /** Sees one workspace, and no user. */
  readonly workspace?: string;
  readonly project: readonly ProjectToken[];
}

/** Who asks. */
export type Caller =
  | { readonly kind: "account" }
  | { readonly kind: "workspace" }
  | ({ readonly kind: "project" } & Pick<ProjectToken, "projectId" | "environmentId">);

/** The two kinds of headers are not interchangeable, and one request carries one of them. */
export function callerOf(headers: IncomingHttpHeaders, tokens: Tokens): Caller | undefined {
  const { authorization, "project-access-token": project } = headers;
  if (authorization !== undefined && project !== undefined) return undefined;
  if (project !== undefined) {
    const token = tokens.project.find(({ value }) => value === project);
    return token && { kind: "project", projectId: token.projectId, environmentId: token.environmentId };
  }
  if (authorization === `Bearer ${tokens.account}`) return { kind: "account" };
  if (tokens.workspace !== undefined && authorization === `Bearer ${tokens.workspace}`) return { kind: "workspace" };
  return undefined;
}

/** Everything that is not of one project: making projects and environments, and looking beyond its own. */
export function requireAccount(caller: Caller): void {
  if (caller.kind === "project") throw notAuthorized();
}

export function requireProject(caller: Caller, projectId: string, environmentId?: string): void {
  if (caller.kind !== "project") return;
  const isForeign = caller.projectId !== projectId;
  if (isForeign || (environmentId !== undefined && caller.environmentId !== environmentId)) throw notAuthorized();
}
