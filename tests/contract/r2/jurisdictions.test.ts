import { CreateBucketCommand, GetObjectCommand, ListBucketsCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { accountId, bucket, refusal, s3Client, startTestR2, token, type Keys, type TestR2 } from "./support.ts";

let r2: TestR2;

beforeAll(async () => {
  r2 = await startTestR2({ jurisdictions: { eu: { buckets: ["european"] } } });
});
afterAll(() => r2.stop());

function eu(keys?: Keys) {
  return s3Client({ ...r2, url: r2.jurisdictions.eu! }, keys);
}

test("an endpoint is there for those that are wanted", () => {
  expect(Object.keys(r2.jurisdictions)).toEqual(["eu"]);
  expect(r2.jurisdictions.eu).not.toBe(r2.url);
});

test("each has buckets of its own, even of the same name", async () => {
  const names = async (client: ReturnType<typeof eu>) =>
    (await client.send(new ListBucketsCommand())).Buckets?.map(({ Name }) => Name);
  expect([await names(s3Client(r2)), await names(eu())]).toEqual([[bucket], ["european"]]);

  await eu().send(new PutObjectCommand({ Bucket: "european", Key: "key", Body: "x" }));
  const read = new GetObjectCommand({ Bucket: "european", Key: "key" });
  expect(await refusal(eu().send(read))).toBe("accepted");
  expect(await refusal(s3Client(r2).send(read))).toBe("NoSuchBucket 404");

  await eu().send(new CreateBucketCommand({ Bucket: bucket }));
  await eu().send(new PutObjectCommand({ Bucket: bucket, Key: "only-there", Body: "x" }));
  const elsewhere = new GetObjectCommand({ Bucket: bucket, Key: "only-there" });
  expect(await refusal(s3Client(r2).send(elsewhere))).toBe("NoSuchKey 404");
});

test("temporary credentials for a bucket work where the bucket is", async () => {
  const answer = await fetch(`${r2.url}/client/v4/accounts/${accountId}/r2/temp-access-credentials`, {
    method: "POST",
    headers: { authorization: `Bearer ${token.value}` },
    body: JSON.stringify({
      bucket: "european",
      parentAccessKeyId: token.id,
      permission: "object-read-write",
      ttlSeconds: 60,
    }),
  });
  const { result } = (await answer.json()) as { result: Keys };
  const write = new PutObjectCommand({ Bucket: "european", Key: "vended", Body: "x" });
  expect(await refusal(eu(result).send(write))).toBe("accepted");
  r2.revokeToken(token.id);
  expect(await refusal(eu(result).send(write))).toBe("Unauthorized 401");
});
