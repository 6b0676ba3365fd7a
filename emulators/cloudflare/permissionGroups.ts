import type { Permission } from "../r2/permissions.ts";

export type Scope = "com.cloudflare.api.account" | "com.cloudflare.api.account.zone" | "com.cloudflare.edge.r2.bucket";

interface Group {
  id: string;
  name: string;
  scopes: readonly Scope[];
}

const account = ["com.cloudflare.api.account"] as const;
const zone = ["com.cloudflare.api.account.zone"] as const;
const bucket = ["com.cloudflare.edge.r2.bucket"] as const;

/** What API tokens can be given, of what this API has. Cloudflare's own list is much longer. */
export const permissionGroups = [
  { id: "bf7481a1826f439697cb59a20b22293e", name: "Workers R2 Storage Write", scopes: account },
  { id: "b4992e1108244f5d8bfbd5744320c2e1", name: "Workers R2 Storage Read", scopes: account },
  { id: "2efd5506f9c8494dacb1fa10a3e7d5b6", name: "Workers R2 Storage Bucket Item Write", scopes: bucket },
  { id: "6a018a9f2fc74eb6b293b0c548f38b39", name: "Workers R2 Storage Bucket Item Read", scopes: bucket },
  { id: "e086da7e2179491d91ee5f35b3ca210a", name: "Workers Scripts Write", scopes: account },
  { id: "1a71c399035b4950a1bd1466bbe4f420", name: "Workers Scripts Read", scopes: account },
  { id: "5bc3f8b21c554832afc660159ab75fa4", name: "Account API Tokens Write", scopes: account },
  { id: "eb56a6953c034b9d97dd838155666f06", name: "Account API Tokens Read", scopes: account },
  { id: "4755a26eedb94da69e1066d98aa820be", name: "DNS Write", scopes: zone },
  { id: "82e64a83756745bbbb1c9c2701bf816b", name: "DNS Read", scopes: zone },
  { id: "c8fed203ed3043cba015a93ad1616f1f", name: "Zone Read", scopes: zone },
] as const satisfies readonly Group[];

export type GroupName = (typeof permissionGroups)[number]["name"];

/** What a group allows on the S3 API, if anything. */
export const s3Permissions: Partial<Record<GroupName, Permission>> = {
  "Workers R2 Storage Write": "admin-read-write",
  "Workers R2 Storage Read": "admin-read-only",
  "Workers R2 Storage Bucket Item Write": "object-read-write",
  "Workers R2 Storage Bucket Item Read": "object-read-only",
};

/** The groups of a token that was made with an S3 permission alone; the administrator's has them all. */
export function groupsOf(permission: Permission | undefined): readonly GroupName[] {
  if (permission === "admin-read-write") return permissionGroups.map(({ name }) => name);
  const names = Object.keys(s3Permissions) as GroupName[];
  return names.filter((name) => permission !== undefined && s3Permissions[name] === permission);
}
