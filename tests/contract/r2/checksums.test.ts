import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import {
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  ChecksumAlgorithm,
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

async function read(Key: string, more: { Range?: string; Bucket?: string } = {}): Promise<string> {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key, ...more }));
  return Body!.transformToString("latin1");
}

describe("checksums", () => {
  const algorithms = [...Object.values(ChecksumAlgorithm)].filter((name) => /^(CRC|SHA(1|256)$)/.test(name));

  test.each(algorithms)("%s is verified, kept and given back", async (algorithm) => {
    const Body = "The quick brown fox";
    const stored = await s3.send(
      new PutObjectCommand({ Bucket: bucket, Key: "checked", Body, ChecksumAlgorithm: algorithm }),
    );
    const name = `Checksum${algorithm}` as "ChecksumCRC32";
    expect(stored[name]).toMatch(/=$/);
    const got = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: "checked", ChecksumMode: "ENABLED" }));
    expect(got[name]).toBe(stored[name]);
    expect(await got.Body?.transformToString()).toBe(Body);
    const wrong = { [name]: Buffer.from(stored[name]!, "base64").reverse().toString("base64") };
    expect(await refusal(s3.send(new PutObjectCommand({ Bucket: bucket, Key: "checked", Body, ...wrong })))).toBe(
      "BadDigest 400",
    );
    const malformed = { [name]: "AAA=" };
    expect(await refusal(s3.send(new PutObjectCommand({ Bucket: bucket, Key: "checked", Body, ...malformed })))).toBe(
      "InvalidDigest 400",
    );
    expect(await read("checked")).toBe(Body);
  });

  test("trail a stream", async () => {
    const Body = Readable.from([Buffer.from("streamed "), Buffer.alloc(200_000, "x")]);
    const stored = await s3.send(
      new PutObjectCommand({
        Bucket: bucket,
        Key: "streamed",
        Body,
        ContentLength: 200_009,
        ChecksumAlgorithm: "CRC32C",
      }),
    );
    expect(stored.ChecksumCRC32C).toMatch(/=$/);
    expect((await read("streamed")).length).toBe(200_009);
    const { ContentEncoding } = await s3.send(new HeadObjectCommand({ Bucket: bucket, Key: "streamed" }));
    expect(ContentEncoding).toBeUndefined();
  });

  test("of MD5 are verified", async () => {
    const write = (ContentMD5: string): Promise<string> =>
      refusal(s3.send(new PutObjectCommand({ Bucket: bucket, Key: "md5", Body: "x", ContentMD5 })));
    expect(await write(createHash("md5").update("x").digest("base64"))).toBe("accepted");
    expect(await write(createHash("md5").update("y").digest("base64"))).toBe("BadDigest 400");
    expect(await write("x")).toBe("InvalidDigest 400");
  });
});
