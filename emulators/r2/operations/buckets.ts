import { isoDate, sendEmpty, sendXml } from "../answer.ts";
import { readText } from "../body.ts";
import { S3Error } from "../errors.ts";
import type { Operation } from "../operation.ts";
import { parseXml } from "../xml.ts";

export const listBuckets: Operation = {
  name: "ListBuckets",
  method: "GET",
  resource: "account",
  access: "admin-read",
  action: "s3:ListAllMyBuckets",
  handle({ store, query, response }) {
    const prefix = query.get("prefix") ?? "";
    const buckets = store.listBuckets().filter(({ name }) => name.startsWith(prefix));
    sendXml(response, "ListAllMyBucketsResult", {
      Owner: { ID: "r2-emulator", DisplayName: "r2-emulator" },
      Buckets: { Bucket: buckets.map(({ name, created }) => ({ Name: name, CreationDate: isoDate(created) })) },
    });
  },
};

export const headBucket: Operation = {
  name: "HeadBucket",
  method: "HEAD",
  resource: "bucket",
  access: "object-read",
  action: "s3:ListBucket",
  handle({ store, bucket, response }) {
    store.requireBucket(bucket);
    sendEmpty(response, 200, { "x-amz-bucket-region": "auto" });
  },
};

export const getBucketLocation: Operation = {
  name: "GetBucketLocation",
  method: "GET",
  resource: "bucket",
  subresource: ["location"],
  access: "object-read",
  action: "s3:GetBucketLocation",
  handle({ store, bucket, response }) {
    store.requireBucket(bucket);
    sendXml(response, "LocationConstraint", { "#text": "auto" });
  },
};

/** R2 takes its location hints, and the same aliases of `auto` as in signatures. */
const locations = ["auto", "", "us-east-1", "apac", "eeur", "enam", "oc", "weur", "wnam"];

export const createBucket: Operation = {
  name: "CreateBucket",
  method: "PUT",
  resource: "bucket",
  access: "admin-write",
  action: "s3:CreateBucket",
  readsBody: true,
  async handle({ store, bucket, body, response, now }) {
    requireBucketName(bucket);
    const text = await readText(body);
    if (text !== "") {
      const location = parseXml(text, "CreateBucketConfiguration").text("LocationConstraint") ?? "";
      if (!locations.includes(location.toLowerCase())) throw new S3Error("InvalidLocationConstraint");
    }
    if (!store.createBucket(bucket, now)) throw new S3Error("BucketAlreadyOwnedByYou");
    sendEmpty(response, 200, { location: `/${bucket}` });
  },
};

export const deleteBucket: Operation = {
  name: "DeleteBucket",
  method: "DELETE",
  resource: "bucket",
  access: "admin-write",
  action: "s3:DeleteBucket",
  handle({ store, bucket, response }) {
    store.requireBucket(bucket);
    store.deleteBucket(bucket);
    sendEmpty(response, 204);
  },
};

/** @throws S3Error InvalidBucketName */
export function requireBucketName(name: string): void {
  if (!/^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/.test(name)) throw new S3Error("InvalidBucketName");
}
