import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseLocation, S3Client, type S3Access } from "../../clients/s3.ts";
import { startR2, type R2 } from "../../emulators/r2/server.ts";

const token = { id: "0123456789abcdef0123456789abcdef", value: "token-value", permission: "admin-read-write" as const };
const secretAccessKey = createHash("sha256").update(token.value).digest("hex");

let directory: string;
let r2: R2;
let s3: S3Client;

const access = (changed: Partial<S3Access> = {}): S3Access => ({
  endpoint: r2.url,
  region: "auto",
  accessKeyId: token.id,
  secretAccessKey,
  ...changed,
});

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "s3-"));
  r2 = await startR2({ directory, accountId: "a".repeat(32), tokens: [token], buckets: ["lakehouse"] });
  s3 = new S3Client(access());
});

afterAll(async () => {
  await r2.close();
  await rm(directory, { recursive: true });
});

/** Keys as table formats make them: PyIceberg writes partition values URL-encoded, so keys hold literal percent signs. */
test.each(["plain", "a b/c+d", "dt=2024-01-01/x", "v=a%2Fb%20c/x", "ümlaut/漢", "it's(1)*!~", "a//b"])(
  "puts, reads, looks at and deletes %s",
  async (key) => {
    await s3.put("lakehouse", key, `content of ${key}`);
    expect((await s3.get("lakehouse", key)).toString()).toBe(`content of ${key}`);
    expect((await s3.get("lakehouse", key, "bytes=0-6")).toString()).toBe("content");
    await expect(s3.head("lakehouse", key)).resolves.toBeUndefined();
    expect((await s3.list("lakehouse", key)).objects).toEqual([{ key, size: Buffer.byteLength(`content of ${key}`) }]);
    await s3.delete("lakehouse", key);
    await expect(s3.get("lakehouse", key)).rejects.toMatchObject({ name: "S3Error", status: 404, code: "NoSuchKey" });
  },
);

test("keeps every byte of a binary object", async () => {
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
  await s3.put("lakehouse", "bytes", bytes);
  expect(await s3.get("lakehouse", "bytes")).toEqual(bytes);
  await s3.delete("lakehouse", "bytes");
});

test("lists page by page, what begins with the prefix", async () => {
  for (const key of ["p/1", "p/2", "p/3", "q/1"]) await s3.put("lakehouse", key, "x");
  const first = await s3.list("lakehouse", "p/", 2);
  expect(first.objects.map(({ key }) => key)).toEqual(["p/1", "p/2"]);
  const second = await s3.list("lakehouse", "p/", 2, first.continuationToken);
  expect(second).toEqual({ objects: [{ key: "p/3", size: 1 }] });
  expect(await s3.list("lakehouse", "none/")).toEqual({ objects: [] });
});

test("a refusal has its status, S3's code and the call", async () => {
  const wrong = new S3Client(access({ secretAccessKey: "wrong" }));
  await expect(wrong.put("lakehouse", "k", "x")).rejects.toMatchObject({
    status: 403,
    code: "SignatureDoesNotMatch",
    message: expect.stringMatching(/^PUT s3:\/\/lakehouse\/k: 403 SignatureDoesNotMatch/) as unknown,
  });
  await expect(s3.list("no-such-bucket", "a/")).rejects.toMatchObject({
    status: 404,
    code: "NoSuchBucket",
    message: expect.stringContaining("GET s3://no-such-bucket/?prefix=a/: 404") as unknown,
  });
  await expect(s3.head("lakehouse", "none")).rejects.toMatchObject({ status: 404, code: undefined });
});

test("an endpoint that does not answer is named", async () => {
  const nowhere = new S3Client(access({ endpoint: "http://127.0.0.1:1" }));
  await expect(nowhere.get("lakehouse", "k")).rejects.toThrow(
    /GET s3:\/\/lakehouse\/k: no answer from http:\/\/127\.0\.0\.1:1 \(.*ECONNREFUSED/,
  );
});

test("puts the bucket into the host name where that is asked for", async () => {
  const nowhere = new S3Client(access({ endpoint: "http://s3.invalid/", pathStyle: false }));
  await expect(nowhere.get("lakehouse", "k")).rejects.toThrow("no answer from http://lakehouse.s3.invalid");
});

test.each([
  ["s3://lakehouse", { bucket: "lakehouse", key: "" }],
  ["s3://lakehouse/a/b%20c #1?", { bucket: "lakehouse", key: "a/b%20c #1?" }],
])("splits %s", (location, parts) => expect(parseLocation(location)).toEqual(parts));

test("refuses a location that is not in S3", () => {
  expect(() => parseLocation("gs://lakehouse/a")).toThrow("not an s3:// location: gs://lakehouse/a");
});
