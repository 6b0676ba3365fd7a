import type { AccountToken } from "../r2/accountTokens.ts";
import { includes } from "../r2/permissions.ts";
import { CloudflareError } from "./errors.ts";
import { permissionGroups, s3Permissions, type GroupName, type Scope } from "./permissionGroups.ts";

export interface Policy {
  effect: "allow";
  permission_groups: { id: string; name: GroupName }[];
  /** From a resource's name to `*`, in the order in which they were sent. */
  resources: Record<string, unknown>;
  id: string;
}

/**
 * What a token's policies come to: its permission groups, and what it may do as an S3 key.
 *
 * @throws CloudflareError
 */
export function rightsOf(policies: readonly Policy[]): Pick<AccountToken, "permission" | "buckets" | "groups"> {
  const groups = policies.flatMap((policy) => policy.permission_groups.map(({ name }) => name));
  const granted = groups.flatMap((name) => s3Permissions[name] ?? []);
  const permission = granted.find((each) => granted.every((other) => includes(each, other)));
  if (permission === undefined && granted.length > 0)
    throw invalid(`this stand-in cannot combine ${granted.join(" with ")}`);
  const reachesAccount = permission?.startsWith("admin") ?? false;
  const buckets = policies.flatMap(({ resources }) => Object.keys(resources).flatMap((name) => bucketOf(name) ?? []));
  return { groups, permission, ...(!reachesAccount && { buckets }) };
}

/**
 * The policies of a request, checked: groups that there are, on resources that they are for.
 *
 * @throws CloudflareError
 */
export function readPolicies(value: unknown, accountId: string): Omit<Policy, "id">[] {
  if (!Array.isArray(value)) throw invalid("policies must be a list");
  return value.map((policy: unknown) => readPolicy(policy, accountId));
}

function readPolicy(value: unknown, accountId: string): Omit<Policy, "id"> {
  const { effect, permission_groups: groups, resources, ...others } = object(value, "a policy");
  const [unknown] = Object.keys(others).filter((name) => name !== "id");
  if (unknown !== undefined) throw invalid(`unknown field "${unknown}" in a policy`);
  if (effect !== "allow") throw invalid("this stand-in knows only policies that allow");
  if (!Array.isArray(groups) || groups.length === 0)
    throw invalid("permission_groups must be a list that is not empty");
  const named = object(resources, "resources");
  const scopes = Object.entries(named).map(([name, access]) => scopeOf(name, access, accountId));
  if (scopes.length === 0) throw invalid("resources must not be empty");
  return { effect, permission_groups: groups.map((group: unknown) => readGroup(group, scopes)), resources: named };
}

function readGroup(value: unknown, scopes: readonly Scope[]): Policy["permission_groups"][number] {
  const { id } = object(value, "a permission group");
  const group = permissionGroups.find((each) => each.id === id);
  if (group === undefined) throw new CloudflareError(400, 1001, "Invalid permission group id");
  const { name } = group;
  const allowed: readonly Scope[] = group.scopes;
  const wrong = scopes.find((scope) => !allowed.includes(scope));
  if (wrong !== undefined) throw invalid(`the permission group ${name} is for ${allowed.join()}, not for ${wrong}`);
  return { id: group.id, name };
}

function scopeOf(name: string, access: unknown, accountId: string): Scope {
  if (name === `com.cloudflare.api.account.${accountId}`) {
    if (access === "*") return "com.cloudflare.api.account";
    const zones = Object.entries(object(access, name));
    const isZones = zones.every(
      ([zone, value]) => /^com\.cloudflare\.api\.account\.zone\./.test(zone) && value === "*",
    );
    if (zones.length > 0 && isZones) return "com.cloudflare.api.account.zone";
  }
  if (access === "*" && /^com\.cloudflare\.api\.account\.zone\.[0-9a-f]{32}$/.test(name))
    return "com.cloudflare.api.account.zone";
  if (access === "*" && bucketOf(name, accountId) !== undefined) return "com.cloudflare.edge.r2.bucket";
  throw invalid(`"${name}" is no resource of this account`);
}

/** The bucket in `com.cloudflare.edge.r2.bucket.<account id>_<jurisdiction>_<bucket>`. */
function bucketOf(resource: string, accountId = "[^_]+"): string | undefined {
  return new RegExp(`^com\\.cloudflare\\.edge\\.r2\\.bucket\\.${accountId}_(?:default|eu|fedramp)_(.+)$`).exec(
    resource,
  )?.[1];
}

function object(value: unknown, what: string): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw invalid(`${what} must be an object`);
}

export function invalid(detail: string): CloudflareError {
  return new CloudflareError(400, 1001, `Invalid token: ${detail}`);
}
