import {
  CompleteMultipartUploadCommand,
  type CompletedPart,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  paginateListObjectsV2,
  PutObjectCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { bucket as lakehouse, s3Client, type TestR2 } from "../support.ts";
import type { Client } from "./client.ts";
import { MiB } from "./world.ts";

const partSize = 5 * MiB;

export function awsSdk(r2: TestR2): Client {
  return {
    with(keys) {
      const client = s3Client(r2, keys);
      const Bucket = lakehouse;

      async function read(input: { Key: string; Bucket?: string; Range?: string; IfNoneMatch?: string }) {
        const { Body } = await client.send(new GetObjectCommand({ Bucket, ...input }));
        return Body!.transformToString();
      }
      async function entries(Prefix: string, Delimiter?: string) {
        const names: string[] = [];
        for await (const page of paginateListObjectsV2({ client }, { Bucket, Prefix, Delimiter })) {
          for (const { Key } of page.Contents ?? []) names.push(Key!.slice(Prefix.length));
          for (const folder of page.CommonPrefixes ?? []) names.push(folder.Prefix!.slice(Prefix.length));
        }
        return names.sort();
      }
      return {
        async put(Key, Body) {
          await client.send(new PutObjectCommand({ Bucket, Key, Body }));
        },
        get: (Key, from = lakehouse) => read({ Key, Bucket: from }),
        range: (Key, first, last) => read({ Key, Range: `bytes=${first}-${last}` }),
        async size(Key) {
          return (await client.send(new HeadObjectCommand({ Bucket, Key }))).ContentLength!;
        },
        list: (prefix) => entries(prefix),
        level: (prefix) => entries(prefix, "/"),
        async delete(Key) {
          await client.send(new DeleteObjectCommand({ Bucket, Key }));
        },
        async copy(from, Key) {
          await client.send(new CopyObjectCommand({ Bucket, Key, CopySource: `${Bucket}/${from}` }));
        },
        async upload(Key, mebibytes) {
          const content = Buffer.alloc(mebibytes * MiB, "x");
          const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
          const Parts: CompletedPart[] = [];
          for (let start = 0; start < content.length; start += partSize) {
            const PartNumber = Parts.length + 1;
            const Body = content.subarray(start, start + partSize);
            const { ETag } = await client.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body }));
            Parts.push({ PartNumber, ETag });
          }
          const MultipartUpload = { Parts };
          await client.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload }));
        },
        async create(Key, Body) {
          await client.send(new PutObjectCommand({ Bucket, Key, Body, IfNoneMatch: "*" }));
        },
        getUnless: (Key, IfNoneMatch) => read({ Key, IfNoneMatch }),
      };
    },
  };
}
