import type { IncomingHttpHeaders } from "node:http";
import { S3Error } from "./errors.ts";
import type { Operation, Resource } from "./operation.ts";
import { createBucket, deleteBucket, getBucketLocation, headBucket, listBuckets } from "./operations/buckets.ts";
import { copyObject, uploadPartCopy } from "./operations/copyObject.ts";
import { deleteObject, deleteObjects } from "./operations/deleteObjects.ts";
import { getObject, headObject } from "./operations/getObject.ts";
import { listObjects, listObjectsV2 } from "./operations/listObjects.ts";
import {
  abortMultipartUpload,
  completeMultipartUpload,
  createMultipartUpload,
  listMultipartUploads,
  listParts,
  uploadPart,
} from "./operations/multipart.ts";
import { putObject } from "./operations/putObject.ts";
import type { Target } from "./target.ts";

/** Every operation that the emulator knows. Of two that fit a request the one that asks for a header is meant. */
export const operations: readonly Operation[] = [
  listBuckets,
  headBucket,
  getBucketLocation,
  createBucket,
  deleteBucket,
  listObjects,
  listObjectsV2,
  getObject,
  headObject,
  putObject,
  deleteObject,
  deleteObjects,
  copyObject,
  createMultipartUpload,
  uploadPart,
  uploadPartCopy,
  listParts,
  completeMultipartUpload,
  abortMultipartUpload,
  listMultipartUploads,
];

/** Query parameters that select another operation, with the word that its name is made of. */
const subresources: Record<string, string> = {
  accelerate: "AccelerateConfiguration",
  acl: "Acl",
  analytics: "AnalyticsConfiguration",
  attributes: "Attributes",
  cors: "Cors",
  delete: "s",
  encryption: "Encryption",
  "intelligent-tiering": "IntelligentTieringConfiguration",
  inventory: "InventoryConfiguration",
  "legal-hold": "LegalHold",
  lifecycle: "LifecycleConfiguration",
  "list-type": "List",
  location: "Location",
  logging: "Logging",
  metrics: "MetricsConfiguration",
  notification: "NotificationConfiguration",
  "object-lock": "ObjectLockConfiguration",
  ownershipControls: "OwnershipControls",
  partNumber: "Part",
  policy: "Policy",
  policyStatus: "PolicyStatus",
  publicAccessBlock: "PublicAccessBlock",
  replication: "Replication",
  requestPayment: "RequestPayment",
  restore: "Restore",
  retention: "Retention",
  select: "Content",
  tagging: "Tagging",
  torrent: "Torrent",
  uploadId: "Upload",
  uploads: "Uploads",
  versionId: "Version",
  versioning: "Versioning",
  versions: "Versions",
  website: "Website",
};

/**
 * Which operation a request is.
 *
 * @throws S3Error NotImplemented, naming the operation that it would be
 */
export function matchOperation(method: string, target: Target, headers: IncomingHttpHeaders): Operation {
  const resource: Resource = target.key !== undefined ? "object" : target.bucket !== undefined ? "bucket" : "account";
  const given = [...target.query.keys()].filter((name) => Object.hasOwn(subresources, name));
  const [operation] = operations
    .filter((candidate) => candidate.method === method && candidate.resource === resource)
    .filter(
      ({ subresource = [] }) =>
        subresource.length === given.length && subresource.every((name) => given.includes(name)),
    )
    .filter(({ header }) => header === undefined || headers[header] !== undefined)
    .sort((a, b) => Number(b.header !== undefined) - Number(a.header !== undefined));
  if (operation === undefined) {
    const name = operationName(method, resource, given);
    throw new S3Error("NotImplemented", `${name} is not implemented`);
  }
  return operation;
}

function operationName(method: string, resource: Resource, given: string[]): string {
  const verb = method.charAt(0) + method.slice(1).toLowerCase();
  const noun = resource.charAt(0).toUpperCase() + resource.slice(1);
  return verb + noun + given.map((name) => subresources[name]).join("");
}

/** Headers of features that R2 lists as not implemented. */
const refusedHeaders =
  /^x-amz-(acl|grant-.*|tagging|object-lock-.*|bucket-object-lock-enabled|server-side-encryption.*|copy-source-server-side-encryption.*|website-redirect-location|expected-bucket-owner|source-expected-bucket-owner|request-payer|mfa|bypass-governance-retention)$/;

/** @throws S3Error NotImplemented, in R2's words */
export function refuseUnsupportedHeaders(headers: IncomingHttpHeaders): void {
  for (const [name, value] of Object.entries(headers)) {
    if (refusedHeaders.test(name)) {
      throw new S3Error("NotImplemented", `Header '${name}' with value '${String(value)}' not implemented`);
    }
  }
}
