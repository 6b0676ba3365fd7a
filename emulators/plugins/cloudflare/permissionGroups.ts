import type { GetAccountApiTokenPermissionGroupsListArgs } from "@pulumi/cloudflare/getAccountApiTokenPermissionGroupsList.js";
import type { Properties } from "../protocol.ts";
import { resultOf, type CloudflareApi } from "./api.ts";
import { Diagnostic } from "./diagnostics.ts";
import { fromWire, type Schema } from "./schema.ts";

const group: Schema = {
  id: { type: "string" },
  name: { type: "string" },
  scopes: { type: { list: "string" } },
};

/** The permission groups that an account's token can have: all, those of a name, or those of a scope. */
export async function permissionGroups(api: CloudflareApi, args: Properties): Promise<Properties> {
  const { accountId, name, scope, maxItems } = args as GetAccountApiTokenPermissionGroupsListArgs;
  if (accountId === undefined)
    throw new Diagnostic("failed to make http request", "missing required account_id parameter");
  const path = `accounts/${accountId}/tokens/permission_groups`;
  const groups = resultOf(await api.call({ method: "GET", path, query: { name, scope } })) as Properties[];
  return { ...args, results: groups.slice(0, maxItems).map((each) => fromWire(group, each)) };
}
