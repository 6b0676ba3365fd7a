import type { Access } from "./operation.ts";

/** What a request wants to do: an operation of the S3 API on a bucket, an object, or a listing below a prefix. */
export interface AccessRequest {
  /** Its name in the S3 API. */
  operation: string;
  /** Its name in policies, e.g. `s3:GetObject`. */
  action: string;
  access: Access;
  bucket?: string | undefined;
  key?: string | undefined;
  /** The prefix that a listing asks for. */
  prefix?: string | undefined;
}

/** Says whether a credential may do what is asked. A request passes when every grant of its credential agrees. */
export type Grant = (request: AccessRequest) => boolean;

/** The kinds of permission that R2's API tokens and temporary credentials have. */
export const permissions = {
  "admin-read-write": ["object-read", "object-write", "admin-read", "admin-write"],
  "admin-read-only": ["object-read", "admin-read"],
  "object-read-write": ["object-read", "object-write"],
  "object-read-only": ["object-read"],
} as const satisfies Record<string, readonly Access[]>;

export type Permission = keyof typeof permissions;

export function isPermission(value: unknown): value is Permission {
  return typeof value === "string" && Object.hasOwn(permissions, value);
}

/** Does everything that `inner` allows lie within `outer`? */
export function includes(outer: Permission, inner: Permission): boolean {
  const allowed: readonly Access[] = permissions[outer];
  return permissions[inner].every((access) => allowed.includes(access));
}

export function permissionGrant(permission: Permission): Grant {
  const allowed: readonly Access[] = permissions[permission];
  return ({ access }) => allowed.includes(access);
}

export function bucketsGrant(buckets: readonly string[]): Grant {
  return ({ bucket }) => bucket !== undefined && buckets.includes(bucket);
}

/** Operations by their names in the S3 API; R2 calls the older of the two listings ListObjectsV1. */
export function operationsGrant(operations: readonly string[]): Grant {
  return ({ operation }) => operations.includes(operation === "ListObjects" ? "ListObjectsV1" : operation);
}

/** Keys below one of the prefixes and the named objects; listings that stay below one of the prefixes. */
export function pathsGrant(prefixes: readonly string[], objects: readonly string[]): Grant {
  const isBelow = (path: string): boolean => prefixes.some((prefix) => path.startsWith(prefix));
  return ({ key, prefix }) => {
    if (key !== undefined) return isBelow(key) || objects.includes(key);
    return prefix !== undefined && isBelow(prefix);
  };
}
