import { createHash } from "node:crypto";
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  PutObjectCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import { bucket, refusal, s3Client, startTestR2, type TestR2 } from "./support.ts";

const fiveMiB = 5 * 1024 * 1024;

let r2: TestR2;
let s3: S3Client;

beforeAll(async () => {
  r2 = await startTestR2();
  s3 = s3Client(r2);
});
afterAll(() => r2.stop());

async function read(Key: string, more: { Range?: string; Bucket?: string } = {}): Promise<string> {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key, ...more }));
  return Body!.transformToString("latin1");
}

describe("multipart uploads", () => {
  const begin = async (Key: string, more: object = {}): Promise<{ Bucket: string; Key: string; UploadId: string }> => {
    const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ Bucket: bucket, Key, ...more }));
    return { Bucket: bucket, Key, UploadId: UploadId! };
  };
  const part = async (upload: Awaited<ReturnType<typeof begin>>, PartNumber: number, Body: Buffer) => {
    const { ETag, ChecksumCRC32 } = await s3.send(new UploadPartCommand({ ...upload, PartNumber, Body }));
    return { PartNumber, ETag, ChecksumCRC32 };
  };
  const a = Buffer.alloc(fiveMiB, "a");
  const b = Buffer.from("bbb");

  test("become one object", async () => {
    const upload = await begin("parts", { ContentType: "text/plain", ChecksumAlgorithm: "CRC32" });
    const Parts = [await part(upload, 2, a), await part(upload, 7, b)];
    const listed = await s3.send(new ListPartsCommand(upload));
    expect(listed.Parts?.map(({ PartNumber, Size }) => [PartNumber, Size])).toEqual([
      [2, fiveMiB],
      [7, 3],
    ]);
    const done = await s3.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }));
    const md5 = (content: Buffer): Buffer => createHash("md5").update(content).digest();
    expect(done.ETag).toBe(`"${md5(Buffer.concat([md5(a), md5(b)])).toString("hex")}-2"`);
    expect(done.ChecksumCRC32).toMatch(/-2$/);
    expect(await read("parts", { Range: `bytes=${fiveMiB - 2}-${fiveMiB + 1}` })).toBe("aabb");
    const head = await s3.send(new HeadObjectCommand({ Bucket: bucket, Key: "parts" }));
    expect([head.ContentLength, head.ContentType]).toEqual([fiveMiB + 3, "text/plain"]);
    expect(await refusal(s3.send(new ListPartsCommand(upload)))).toBe("NoSuchUpload 404");
  });

  test("are listed until aborted", async () => {
    const upload = await begin("aborted");
    await part(upload, 1, b);
    const list = async (): Promise<unknown> =>
      (await s3.send(new ListMultipartUploadsCommand({ Bucket: bucket }))).Uploads?.map(({ UploadId }) => UploadId);
    expect(await list()).toEqual([upload.UploadId]);
    await s3.send(new AbortMultipartUploadCommand(upload));
    expect(await list()).toBeUndefined();
    expect(await refusal(part(upload, 2, b))).toBe("NoSuchUpload 404");
    expect(await refusal(read("aborted"))).toBe("NoSuchKey 404");
  });

  test("take parts of other objects", async () => {
    await s3.send(new PutObjectCommand({ Bucket: bucket, Key: "whole", Body: "0123456789" }));
    const upload = await begin("assembled");
    const { CopyPartResult } = await s3.send(
      new UploadPartCopyCommand({
        ...upload,
        PartNumber: 1,
        CopySource: `${bucket}/whole`,
        CopySourceRange: "bytes=2-5",
      }),
    );
    const Parts = [{ PartNumber: 1, ETag: CopyPartResult?.ETag }];
    await s3.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }));
    expect(await read("assembled")).toBe("2345");
  });

  test.each([
    ["parts below 5 MiB", [b, b], (parts: object[]) => parts, "EntityTooSmall 400"],
    ["parts of different sizes", [a, Buffer.concat([a, b]), b], (parts: object[]) => parts, "InvalidPart 400"],
    ["parts out of order", [a, a], (parts: object[]) => parts.toReversed(), "InvalidPartOrder 400"],
    ["a part that is not there", [b], () => [{ PartNumber: 9, ETag: '"0"' }], "InvalidPart 400"],
    ["another ETag", [b], () => [{ PartNumber: 1, ETag: '"0"' }], "InvalidPart 400"],
  ])("with %s are refused", async (_what, bodies, choose, expected) => {
    const upload = await begin("refused");
    const parts = [];
    for (const [index, body] of bodies.entries()) parts.push(await part(upload, index + 1, body));
    const complete = new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts: choose(parts) } });
    expect(await refusal(s3.send(complete))).toBe(expected);
    await s3.send(new AbortMultipartUploadCommand(upload));
  });
});
