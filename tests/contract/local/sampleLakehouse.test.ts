import { S3Client } from "../../../clients/s3.ts";
import provider, { type SampleLakehouseInputs } from "../../../providers/local/sampleLakehouse.provider.ts";
import { sampleObjects } from "../../../tools/fixtures/sample.ts";
import { bucket, parentKeys, startTestR2, type TestR2 } from "../r2/support.ts";

let r2: TestR2;
let inputs: SampleLakehouseInputs;
let client: S3Client;

beforeEach(async () => {
  r2 = await startTestR2();
  const { accessKeyId, secretAccessKey } = parentKeys;
  const news = { endpoint: r2.url, bucket, region: "auto", accessKeyId, secretAccessKey };
  inputs = (await provider.check({}, news)).inputs;
  client = new S3Client(news);
});

afterEach(() => r2.stop());

test("every object of the sample is uploaded, and one that is there stays as it is", async () => {
  const [first, ...others] = sampleObjects();
  await client.put(bucket, first!.key, "somebody else's");

  const { id, outs } = await provider.create(inputs);

  expect(outs.objects).toBe(others.length + 1);
  expect((await client.get(bucket, first!.key)).toString()).toBe("somebody else's");
  for (const { key, body } of others) expect((await client.get(bucket, key)).equals(body)).toBe(true);
  expect(await provider.diff(id, outs, inputs)).toEqual({ changes: false });
  expect(await provider.read(id, outs)).toEqual({ id, props: outs });
});

test("what was deleted stays deleted, but a bucket that lost everything is filled again", async () => {
  const { id, outs } = await provider.create(inputs);
  const [first, ...others] = sampleObjects();
  await client.delete(bucket, first!.key);
  expect(await provider.read(id, outs)).toEqual({ id, props: outs });

  for (const { key } of others) await client.delete(bucket, key);
  const { props } = await provider.read(id, outs);
  expect(await provider.diff(id, props!, inputs)).toEqual({ changes: true });
  await provider.update(id, props!, inputs);
  expect((await client.get(bucket, first!.key)).equals(first!.body)).toBe(true);
});

test("a server that is stopped is no drift", async () => {
  const { id, outs } = await provider.create(inputs);

  const endpoint = "http://127.0.0.1:9";
  expect(await provider.read(id, { ...outs, endpoint })).toEqual({ id, props: { ...outs, endpoint } });
});

test("deleting the resource leaves every object", async () => {
  const { id, outs } = await provider.create(inputs);
  await provider.delete(id, outs);

  const { objects } = await client.list(bucket, "");
  expect(objects.length).toBe(outs.objects);
});
