import { S3Error } from "../r2/errors.ts";
import { jurisdictions, type Jurisdiction } from "../r2/jurisdictions.ts";
import { requireBucketName } from "../r2/operations/buckets.ts";
import type { Store } from "../r2/store.ts";
import { isoSeconds, readObject, type ApiCall, type Route } from "./call.ts";
import { CloudflareError, invalidBody } from "./errors.ts";

const read = ["Workers R2 Storage Read", "Workers R2 Storage Write"] as const;
const write = ["Workers R2 Storage Write"] as const;
const buckets = "/accounts/:account/r2/buckets";

export const bucketRoutes: readonly Route[] = [
  { name: "CreateBucket", method: "POST", path: buckets, permissions: write, handle: createBucket },
  {
    name: "ListBuckets",
    method: "GET",
    path: buckets,
    permissions: read,
    handle: (call) => ({
      buckets: storeOf(call)
        .listBuckets()
        .map(({ name }) => show(call, name)),
    }),
  },
  {
    name: "GetBucket",
    method: "GET",
    path: `${buckets}/:bucket`,
    permissions: read,
    handle: (call) => show(call, requireBucket(call)),
  },
  { name: "PatchBucket", method: "PATCH", path: `${buckets}/:bucket`, permissions: write, handle: patchBucket },
  { name: "DeleteBucket", method: "DELETE", path: `${buckets}/:bucket`, permissions: write, handle: deleteBucket },
];

const locations = ["apac", "eeur", "enam", "oc", "weur", "wnam"];
const storageClasses = ["Standard", "InfrequentAccess"];
/** Where a bucket is made that is not wished elsewhere. */
const usualLocation = "WEUR";

function createBucket(call: ApiCall): object {
  const { name, locationHint, storageClass = "Standard" } = readObject(call, ["name", "locationHint", "storageClass"]);
  if (typeof name !== "string" || !isBucketName(name))
    throw new CloudflareError(400, 10005, "The specified bucket name is not valid.");
  if (locationHint !== undefined && !isLocation(locationHint))
    throw invalidBody(`locationHint must be one of ${locations.join(", ")}`);
  requireStorageClass(storageClass);
  const store = storeOf(call);
  if (!store.createBucket(name, call.now))
    throw new CloudflareError(409, 10004, "The bucket you tried to create already exists, and you own it.");
  store.setBucketSettings(name, {
    location: locationHint === undefined ? usualLocation : locationHint.toUpperCase(),
    storageClass: storageClass as string,
  });
  return show(call, name);
}

function patchBucket(call: ApiCall): object {
  const name = requireBucket(call);
  const storageClass = call.header("cf-r2-storage-class");
  requireStorageClass(storageClass);
  const store = storeOf(call);
  store.setBucketSettings(name, { ...store.bucketSettings(name), storageClass: storageClass! });
  return show(call, name);
}

function deleteBucket(call: ApiCall): object {
  const name = requireBucket(call);
  try {
    storeOf(call).deleteBucket(name);
  } catch (error) {
    if (!(error instanceof S3Error) || error.code !== "BucketNotEmpty") throw error;
    throw new CloudflareError(409, 10008, "The bucket you tried to delete is not empty.");
  }
  return {};
}

export function requireBucket(call: ApiCall): string {
  const { bucket = "" } = call.parameters;
  if (storeOf(call).hasBucket(bucket)) return bucket;
  throw new CloudflareError(404, 10006, "The specified bucket does not exist.");
}

function show(call: ApiCall, name: string): object {
  const store = storeOf(call);
  const { location = usualLocation, storageClass = "Standard" } = store.bucketSettings(name);
  const created = store.listBuckets().find((bucket) => bucket.name === name)!.created;
  return {
    name,
    creation_date: isoSeconds(created),
    location,
    storage_class: storageClass,
    jurisdiction: jurisdictionOf(call),
  };
}

export function storeOf(call: ApiCall): Store {
  const jurisdiction = jurisdictionOf(call);
  const store = call.account.storeOf(jurisdiction);
  if (store !== undefined) return store;
  throw new CloudflareError(400, 10040, `This stand-in was started without an endpoint for ${jurisdiction}.`);
}

function jurisdictionOf({ header }: ApiCall): Jurisdiction | "default" {
  const named = header("cf-r2-jurisdiction") ?? "default";
  const known = [...jurisdictions, "default"] as const;
  const jurisdiction = known.find((each) => each === named);
  if (jurisdiction === undefined) throw invalidBody(`cf-r2-jurisdiction must be one of ${known.join(", ")}`);
  return jurisdiction;
}

function requireStorageClass(value: unknown): void {
  if (!storageClasses.includes(value as string))
    throw invalidBody(`the storage class must be one of ${storageClasses.join(", ")}`);
}

function isLocation(value: unknown): value is string {
  return typeof value === "string" && locations.includes(value.toLowerCase());
}

function isBucketName(name: string): boolean {
  try {
    requireBucketName(name);
    return true;
  } catch {
    return false;
  }
}
