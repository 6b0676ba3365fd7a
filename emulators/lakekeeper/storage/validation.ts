import { gzipSync } from "node:zlib";
import { CatalogError } from "../http/errors.ts";
import { uuid7 } from "../ids.ts";
import type { StorageCredential } from "./credential.ts";
import { baseLocation, type StorageProfile } from "./profile.ts";
import { IoError, type S3Client } from "./s3.ts";
import { canVend, longLivedKeys, mint, s3Client } from "./vending.ts";

async function probe(client: S3Client, location: string): Promise<void> {
  await client.write(location, gzipSync("test"));
  await client.head(location);
  await client.read(location);
  await client.delete(location);
}

/** Temporary keys work below their own location and are refused beside it. */
async function probeVended(
  profile: StorageProfile,
  credential: StorageCredential,
  location: string,
  api: string,
): Promise<void> {
  const own = `${location}/vended-test`;
  const client = s3Client(profile, await mint(profile, credential, { location: own, permission: "write" }, api));
  await probe(client, `${own}/metadata/test`);
  try {
    await client.write(`${location}/metadata/forbidden-write-test`, gzipSync("test"));
  } catch (error) {
    if (error instanceof IoError && error.kind === "PermissionDenied") return;
    throw error;
  }
  throw new CatalogError(400, "Unexpected", "Downscoped credentials allow write access to parent location.");
}

/**
 * Tries the storage the way tables will use it, in a folder of its own that is gone afterwards. Throws 400 with the kind
 * of failure as type, or 412 ShortTermCredentialError when temporary credentials cannot be had.
 */
export async function validateStorage(
  profile: StorageProfile,
  credential: StorageCredential | null,
  api: string,
): Promise<void> {
  const location = `${baseLocation(profile)}/${uuid7()}`;
  const client = s3Client(profile, longLivedKeys(credential));
  try {
    await probe(client, `${location}/metadata/test`);
    if (credential !== null && canVend(profile, credential)) await probeVended(profile, credential, location, api);
    await client.deleteAll(location);
    if ((await client.list(location, 1)).length > 0)
      throw new CatalogError(400, "Unexpected", "Files are left in the test location after they were removed.");
  } catch (error) {
    if (!(error instanceof IoError)) throw error;
    throw new CatalogError(400, error.kind, error.message, ["IO Operation Failed during validation."]);
  }
}
