import {
  CreateBucketCommand,
  DeleteBucketCommand,
  GetBucketLocationCommand,
  HeadBucketCommand,
  ListBucketsCommand,
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

describe("buckets", () => {
  test("are created, listed, found and deleted", async () => {
    await s3.send(new CreateBucketCommand({ Bucket: "second" }));
    const { Buckets } = await s3.send(new ListBucketsCommand({}));
    expect(Buckets?.map(({ Name }) => Name)).toEqual([bucket, "second"]);
    const { LocationConstraint } = await s3.send(new GetBucketLocationCommand({ Bucket: "second" }));
    expect(LocationConstraint).toBe("auto");
    await s3.send(new HeadBucketCommand({ Bucket: "second" }));
    await s3.send(new DeleteBucketCommand({ Bucket: "second" }));
    expect(await refusal(s3.send(new HeadBucketCommand({ Bucket: "second" })))).toBe("NotFound 404");
  });

  test("that exist, have bad names or a bad location are refused", async () => {
    const create = (Bucket: string, location?: string): Promise<string> =>
      refusal(
        s3.send(
          new CreateBucketCommand({
            Bucket,
            ...(location && { CreateBucketConfiguration: { LocationConstraint: location as "EU" } }),
          }),
        ),
      );
    expect(await create(bucket)).toBe("BucketAlreadyOwnedByYou 409");
    expect(await create("Capital-Letters")).toBe("InvalidBucketName 400");
    expect(await create("elsewhere", "eu-central-1")).toBe("InvalidLocationConstraint 400");
    expect(await create("hinted", "weur")).toBe("accepted");
  });

  test("that hold an object are not deleted", async () => {
    await s3.send(new CreateBucketCommand({ Bucket: "full" }));
    await s3.send(new PutObjectCommand({ Bucket: "full", Key: "a", Body: Buffer.alloc(0) }));
    expect(await refusal(s3.send(new DeleteBucketCommand({ Bucket: "full" })))).toBe("BucketNotEmpty 409");
  });
});
