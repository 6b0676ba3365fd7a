import {
  PutObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  DeleteObjectCommand,
} from "@aws-sdk/client-s3";
import { bucket, s3Client, startTestR2, type TestR2 } from "./support.ts";

let r2: TestR2;
beforeAll(async () => {
  r2 = await startTestR2();
});
afterAll(() => r2.stop());

test("basic", async () => {
  const s3 = s3Client(r2);
  const put = await s3.send(new PutObjectCommand({ Bucket: bucket, Key: "a/b=1/c d+é.txt", Body: "hello" }));
  expect(put.ETag).toBe('"5d41402abc4b2a76b9719d911017c592"');
  const got = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: "a/b=1/c d+é.txt" }));
  expect(await got.Body?.transformToString()).toBe("hello");
  const part = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: "a/b=1/c d+é.txt", Range: "bytes=1-2" }));
  expect(await part.Body?.transformToString()).toBe("el");
  const head = await s3.send(new HeadObjectCommand({ Bucket: bucket, Key: "a/b=1/c d+é.txt" }));
  expect(head.ContentLength).toBe(5);
  const list = await s3.send(new ListObjectsV2Command({ Bucket: bucket, Delimiter: "/" }));
  expect(list.CommonPrefixes).toEqual([{ Prefix: "a/" }]);
  await s3.send(new DeleteObjectCommand({ Bucket: bucket, Key: "a/b=1/c d+é.txt" }));
  expect((await s3.send(new ListObjectsV2Command({ Bucket: bucket }))).KeyCount).toBe(0);
});
