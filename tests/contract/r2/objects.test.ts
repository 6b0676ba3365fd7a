import { createHash, randomBytes } from "node:crypto";
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import { bucket, refusal, s3Client, startTestR2, type TestR2 } from "./support.ts";

let r2: TestR2;
let s3: S3Client;

beforeAll(async () => {
  r2 = await startTestR2();
  s3 = s3Client(r2);
});
afterAll(() => r2.stop());

async function put(Key: string, content = Key): Promise<string> {
  const { ETag } = await s3.send(new PutObjectCommand({ Bucket: bucket, Key, Body: Buffer.from(content) }));
  return ETag ?? "";
}

async function read(Key: string, more: { Range?: string; Bucket?: string } = {}): Promise<string> {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key, ...more }));
  return Body!.transformToString("latin1");
}

describe("objects", () => {
  test.each([
    ["plain"],
    ["with space+plus&amp"],
    ["part=1/ünï/日本.parquet"],
    ["a//b/../c"],
    ["quote's (1)!*~"],
    ["%2F%zz"],
  ])("named %s are stored, read, described and deleted", async (name) => {
    const Key = `names/${name}`;
    const etag = await put(Key, "hello");
    expect(etag).toBe(`"${createHash("md5").update("hello").digest("hex")}"`);
    expect(await read(Key)).toBe("hello");
    const head = await s3.send(new HeadObjectCommand({ Bucket: bucket, Key }));
    expect([head.ContentLength, head.ETag, head.ContentType]).toEqual([5, etag, "application/octet-stream"]);
    await s3.send(new DeleteObjectCommand({ Bucket: bucket, Key }));
    expect(await refusal(read(Key))).toBe("NoSuchKey 404");
    expect(await refusal(s3.send(new HeadObjectCommand({ Bucket: bucket, Key })))).toBe("NotFound 404");
  });

  test("keep their headers and metadata", async () => {
    const stored = {
      ContentType: "text/csv",
      CacheControl: "no-store",
      ContentEncoding: "gzip",
      ContentDisposition: "attachment",
      Metadata: { writer: "test" },
    };
    await s3.send(new PutObjectCommand({ Bucket: bucket, Key: "described", Body: "x", ...stored }));
    expect(await s3.send(new HeadObjectCommand({ Bucket: bucket, Key: "described" }))).toMatchObject(stored);
    const overridden = new GetObjectCommand({ Bucket: bucket, Key: "described", ResponseContentType: "text/plain" });
    expect((await s3.send(overridden)).ContentType).toBe("text/plain");
  });

  test.each([
    ["bytes=2-4", "234", "bytes 2-4/10"],
    ["bytes=7-", "789", "bytes 7-9/10"],
    ["bytes=-2", "89", "bytes 8-9/10"],
    ["bytes=5-99", "56789", "bytes 5-9/10"],
  ])("answer the range %s", async (Range, content, ContentRange) => {
    await put("digits", "0123456789");
    const answer = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: "digits", Range }));
    expect([answer.$metadata.httpStatusCode, answer.ContentRange]).toEqual([206, ContentRange]);
    expect(await answer.Body?.transformToString()).toBe(content);
  });

  test("refuse a range beyond their end", async () => {
    await put("digits", "0123456789");
    expect(await refusal(read("digits", { Range: "bytes=10-12" }))).toBe("InvalidRange 416");
  });

  test("are empty or large", async () => {
    await put("empty", "");
    expect(await read("empty")).toBe("");
    const large = randomBytes(3_000_000);
    await s3.send(new PutObjectCommand({ Bucket: bucket, Key: "large", Body: large }));
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: "large" }));
    expect(Buffer.from(await Body!.transformToByteArray()).equals(large)).toBe(true);
  });

  test("are read whole while they are overwritten", async () => {
    const contents = ["a", "b"].map((letter) => letter.repeat(100_000));
    await put("contended", contents[0]);
    let isWriting = true;
    const write = async (): Promise<void> => {
      for (let round = 0; round < 40; round++) await put("contended", contents[round % 2]);
      isWriting = false;
    };
    const readers = Array.from({ length: 4 }, async () => {
      while (isWriting) expect(contents).toContain(await read("contended"));
    });
    await Promise.all([write(), ...readers]);
  });

  test("in a bucket that is not there are refused", async () => {
    expect(await refusal(read("a", { Bucket: "nowhere" }))).toBe("NoSuchBucket 404");
    const upload = new PutObjectCommand({ Bucket: "nowhere", Key: "a", Body: Buffer.alloc(0) });
    expect(await refusal(s3.send(upload))).toBe("NoSuchBucket 404");
  });

  test("are deleted many at a time, those that are not there too", async () => {
    await Promise.all([put("many/1"), put("many/2"), put("many/<3>&")]);
    const Objects = ["many/1", "many/2", "many/<3>&", "many/absent"].map((Key) => ({ Key }));
    const { Deleted, Errors } = await s3.send(new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects } }));
    expect(Deleted?.map(({ Key }) => Key)).toEqual(Objects.map(({ Key }) => Key));
    expect(Errors ?? []).toEqual([]);
    expect((await s3.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: "many/" }))).KeyCount).toBe(0);
  });
});

describe("conditions", () => {
  test("on reading", async () => {
    const etag = await put("conditional");
    const get = (condition: object): Promise<unknown> =>
      s3.send(new GetObjectCommand({ Bucket: bucket, Key: "conditional", ...condition }));
    const hourAgo = new Date(Date.now() - 3_600_000);
    const inAnHour = new Date(Date.now() + 3_600_000);
    expect(await refusal(get({ IfMatch: etag }))).toBe("accepted");
    expect(await refusal(get({ IfMatch: '"other"' }))).toBe("PreconditionFailed 412");
    expect(await refusal(get({ IfNoneMatch: etag }))).toMatch(/ 304$/);
    expect(await refusal(get({ IfNoneMatch: '"other"' }))).toBe("accepted");
    expect(await refusal(get({ IfModifiedSince: inAnHour }))).toMatch(/ 304$/);
    expect(await refusal(get({ IfUnmodifiedSince: hourAgo }))).toBe("PreconditionFailed 412");
  });

  test("on writing", async () => {
    const write = (Key: string, condition: object): Promise<string> =>
      refusal(s3.send(new PutObjectCommand({ Bucket: bucket, Key, Body: "new", ...condition })));
    const etag = await put("guarded", "old");
    expect(await write("guarded", { IfNoneMatch: "*" })).toBe("PreconditionFailed 412");
    expect(await write("guarded", { IfMatch: '"other"' })).toBe("PreconditionFailed 412");
    expect(await read("guarded")).toBe("old");
    expect(await write("guarded", { IfMatch: etag })).toBe("accepted");
    expect(await write("absent", { IfMatch: etag })).toBe("PreconditionFailed 412");
    expect(await write("fresh", { IfNoneMatch: "*" })).toBe("accepted");
  });

  test("let one of many concurrent creators through", async () => {
    const creators = Array.from({ length: 20 }, (_, index) =>
      refusal(s3.send(new PutObjectCommand({ Bucket: bucket, Key: "race", Body: `${index}`, IfNoneMatch: "*" }))),
    );
    const outcomes = await Promise.all(creators);
    expect(outcomes.filter((outcome) => outcome === "accepted")).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === "PreconditionFailed 412")).toHaveLength(19);
  });
});

describe("copies", () => {
  const copy = (Key: string, more: object = {}): Promise<unknown> =>
    s3.send(new CopyObjectCommand({ Bucket: bucket, Key, CopySource: `${bucket}/source%20%C3%A9`, ...more }));

  beforeAll(async () => {
    const metadata = { ContentType: "text/a", Metadata: { a: "1", b: "1" } };
    await s3.send(new PutObjectCommand({ Bucket: bucket, Key: "source é", Body: "copied", ...metadata }));
  });

  test.each([
    ["COPY", { ContentType: "text/a", Metadata: { a: "1", b: "1" } }],
    ["REPLACE", { ContentType: "text/b", Metadata: { b: "2" } }],
    ["MERGE", { ContentType: "text/b", Metadata: { a: "1", b: "2" } }],
  ])("with the metadata directive %s", async (MetadataDirective, expected) => {
    await copy("copy", { MetadataDirective, ContentType: "text/b", Metadata: { b: "2" } });
    expect(await read("copy")).toBe("copied");
    expect(await s3.send(new HeadObjectCommand({ Bucket: bucket, Key: "copy" }))).toMatchObject(expected);
  });

  test("outlive their source", async () => {
    await put("short-lived");
    await s3.send(new CopyObjectCommand({ Bucket: bucket, Key: "copy", CopySource: `${bucket}/short-lived` }));
    await s3.send(new DeleteObjectCommand({ Bucket: bucket, Key: "short-lived" }));
    expect(await read("copy")).toBe("short-lived");
  });

  test("of what is not there, or not as expected, are refused", async () => {
    expect(await refusal(copy("copy", { CopySource: `${bucket}/absent` }))).toBe("NoSuchKey 404");
    expect(await refusal(copy("copy", { CopySourceIfMatch: '"other"' }))).toBe("PreconditionFailed 412");
  });
});
