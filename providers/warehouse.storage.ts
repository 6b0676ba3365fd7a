import { HttpError } from "../clients/http.ts";
import type { StorageCredential, StorageProfile } from "./warehouse.profile.ts";

/** Kinds of storage errors, as Lakekeeper names them when it tries a storage. */
const STORAGE_KINDS = new Set(["NotFound", "PermissionDenied", "Unexpected"]);

/** True for what a bucket or token made moments ago may answer; false for what will be no different later. */
export function isPerhapsNotThereYet(error: unknown): error is HttpError {
  if (!(error instanceof HttpError)) return false;
  return error.status === 412 || (error.status === 400 && STORAGE_KINDS.has(error.type ?? ""));
}

/** The same error with what to do about the storage. */
export function explainStorage(error: unknown, profile: StorageProfile, credential: StorageCredential): unknown {
  return error instanceof HttpError ? error.advise(remedy(error, profile, credential)) : error;
}

function remedy(error: HttpError, profile: StorageProfile, credential: StorageCredential): string | undefined {
  switch (error.type) {
    case "CreateWarehouseStorageProfileOverlap":
      return `No two warehouses may cover the same place. Use the name of that one to adopt it, or another keyPrefix than "${profile.keyPrefix ?? ""}"`;
    case "NotFound":
      return `See that the bucket "${profile.bucket}" exists at ${profile.endpoint}`;
    case "PermissionDenied":
      return `See that the access key ${credential.accessKeyId} may list, read, write and delete in the bucket "${profile.bucket}"`;
    case "Unexpected":
      return `See that Lakekeeper reaches ${profile.endpoint} and that the access key ${credential.accessKeyId} is valid there`;
    case "ShortTermCredentialError":
      return credential.type === "cloudflare-r2"
        ? `Lakekeeper mints temporary credentials from the Cloudflare token ${credential.accessKeyId}: it must be an account token with "Admin Read & Write" of account ${credential.accountId}`
        : `The store at ${profile.endpoint} must offer STS AssumeRole to the access key ${credential.accessKeyId}`;
    default:
      return undefined;
  }
}
