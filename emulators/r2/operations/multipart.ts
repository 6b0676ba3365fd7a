import { isoDate, quoted, sendEmpty, sendXml } from "../answer.ts";
import { readText } from "../body.ts";
import { checksumAlgorithms, checksumElement, checksumHeader, type ChecksumAlgorithm } from "../checksums.ts";
import { requireConditions } from "../conditions.ts";
import { S3Error } from "../errors.ts";
import { checksumHeaders, keptHeaders } from "../objectHeaders.ts";
import type { Call, Operation } from "../operation.ts";
import type { PartReference, Upload } from "../uploads.ts";
import { parseXml, type XmlElement } from "../xml.ts";
import { createBucketIfAsked } from "./putObject.ts";

export const createMultipartUpload: Operation = {
  name: "CreateMultipartUpload",
  method: "POST",
  resource: "object",
  subresource: ["uploads"],
  access: "object-write",
  action: "s3:PutObject",
  handle(call) {
    const { store, uploads, bucket, key, headers, response, now } = call;
    createBucketIfAsked(call);
    store.requireBucket(bucket);
    const type = headers["x-amz-checksum-type"];
    if (type !== undefined && type !== "COMPOSITE") {
      throw new S3Error("NotImplemented", `Header 'x-amz-checksum-type' with value '${String(type)}' not implemented`);
    }
    const name = headers["x-amz-checksum-algorithm"];
    const algorithm = checksumAlgorithms.find((known) => known === name);
    if (name !== undefined && algorithm === undefined)
      throw new S3Error("InvalidArgument", "Unknown checksum algorithm");
    const upload = uploads.create({ bucket, key, created: now, headers: keptHeaders(headers), algorithm });
    if (algorithm !== undefined) response.setHeader("x-amz-checksum-algorithm", algorithm);
    sendXml(response, "InitiateMultipartUploadResult", { Bucket: bucket, Key: key, UploadId: upload.id });
  },
};

export const uploadPart: Operation = {
  name: "UploadPart",
  method: "PUT",
  resource: "object",
  subresource: ["partNumber", "uploadId"],
  access: "object-write",
  action: "s3:PutObject",
  readsBody: true,
  async handle(call) {
    const { store, uploads, body, response, now } = call;
    const upload = findUpload(call);
    const number = partNumber(call);
    const blob = await store.blobs.write(body.content);
    const etag = body.md5();
    const checksum = body.checksum();
    await uploads.putPart(upload, { number, size: blob.size, etag, modified: now, checksum, blob: blob.id });
    sendEmpty(response, 200, { etag: quoted(etag), ...checksumHeaders({ checksum }) });
  },
};

export const listParts: Operation = {
  name: "ListParts",
  method: "GET",
  resource: "object",
  subresource: ["uploadId"],
  access: "object-read",
  action: "s3:ListMultipartUploadParts",
  handle(call) {
    const { uploads, bucket, key, query, response } = call;
    const upload = findUpload(call);
    const marker = Number(query.get("part-number-marker") ?? "0");
    const limit = Math.min(Number(query.get("max-parts") ?? "1000"), 1000);
    if (!Number.isInteger(marker) || !Number.isInteger(limit) || limit < 0) {
      throw new S3Error("InvalidArgument", "part-number-marker and max-parts must be numbers");
    }
    const rest = uploads.parts(upload.id).filter(({ number }) => number > marker);
    const page = rest.slice(0, limit);
    sendXml(response, "ListPartsResult", {
      Bucket: bucket,
      Key: key,
      UploadId: upload.id,
      PartNumberMarker: marker,
      NextPartNumberMarker: page.at(-1)?.number ?? 0,
      MaxParts: limit,
      IsTruncated: rest.length > page.length,
      StorageClass: "STANDARD",
      ChecksumAlgorithm: upload.algorithm,
      Part: page.map(({ number, size, etag, modified, checksum }) => ({
        PartNumber: number,
        LastModified: isoDate(modified),
        ETag: quoted(etag),
        Size: size,
        ...(checksum === undefined ? {} : { [checksumElement(checksum.algorithm)]: checksum.value }),
      })),
    });
  },
};

export const completeMultipartUpload: Operation = {
  name: "CompleteMultipartUpload",
  method: "POST",
  resource: "object",
  subresource: ["uploadId"],
  access: "object-write",
  action: "s3:PutObject",
  readsBody: true,
  async handle(call) {
    const { uploads, bucket, key, headers, body, response, now } = call;
    const upload = findUpload(call);
    const request = parseXml(await readText(body), "CompleteMultipartUpload");
    const references = request.elements("Part").map(toReference);
    if (references.length === 0) throw new S3Error("MalformedXML");
    const object = await uploads.complete(upload, references, now, (existing, { checksum }) => {
      requireConditions(headers, existing);
      const expected = checksum && headers[checksumHeader(checksum.algorithm)];
      if (expected !== undefined && expected !== checksum?.value) throw new S3Error("BadDigest");
    });
    const { checksum } = object;
    sendXml(response, "CompleteMultipartUploadResult", {
      Location: `/${bucket}/${key}`,
      Bucket: bucket,
      Key: key,
      ETag: quoted(object.etag),
      ...(checksum === undefined ? {} : { [checksumElement(checksum.algorithm)]: checksum.value }),
    });
  },
};

export const abortMultipartUpload: Operation = {
  name: "AbortMultipartUpload",
  method: "DELETE",
  resource: "object",
  subresource: ["uploadId"],
  access: "object-write",
  action: "s3:AbortMultipartUpload",
  async handle(call) {
    await call.uploads.abort(findUpload(call));
    sendEmpty(call.response, 204);
  },
};

export const listMultipartUploads: Operation = {
  name: "ListMultipartUploads",
  method: "GET",
  resource: "bucket",
  subresource: ["uploads"],
  access: "object-read",
  action: "s3:ListBucketMultipartUploads",
  handle({ store, uploads, bucket, query, response }) {
    store.requireBucket(bucket);
    for (const name of ["delimiter", "key-marker", "upload-id-marker", "encoding-type"]) {
      if (query.get(name)) throw new S3Error("NotImplemented", `ListMultipartUploads with ${name} is not implemented`);
    }
    const prefix = query.get("prefix") ?? "";
    const found = uploads.list(bucket, prefix);
    if (found.length > 1000)
      throw new S3Error("NotImplemented", "ListMultipartUploads of over 1000 is not implemented");
    sendXml(response, "ListMultipartUploadsResult", {
      Bucket: bucket,
      Prefix: prefix,
      MaxUploads: 1000,
      IsTruncated: false,
      Upload: found.map(({ id, key, created }) => ({
        Key: key,
        UploadId: id,
        Initiated: isoDate(created),
        StorageClass: "STANDARD",
      })),
    });
  },
};

/** @throws S3Error NoSuchBucket, NoSuchUpload */
export function findUpload({ store, uploads, bucket, key, query }: Call): Upload {
  store.requireBucket(bucket);
  return uploads.get(bucket, key, query.get("uploadId") ?? "");
}

/** @throws S3Error InvalidArgument */
export function partNumber({ query }: Call): number {
  const number = Number(query.get("partNumber"));
  if (!Number.isInteger(number) || number < 1 || number > 10_000) {
    throw new S3Error("InvalidArgument", "Part number must be an integer between 1 and 10000, inclusive");
  }
  return number;
}

function toReference(part: XmlElement): PartReference {
  const checksums: Partial<Record<ChecksumAlgorithm, string>> = {};
  for (const algorithm of checksumAlgorithms) {
    const value = part.text(checksumElement(algorithm));
    if (value !== undefined) checksums[algorithm] = value;
  }
  return {
    number: Number(part.requiredText("PartNumber")),
    etag: part.requiredText("ETag").replaceAll('"', ""),
    checksums,
  };
}
