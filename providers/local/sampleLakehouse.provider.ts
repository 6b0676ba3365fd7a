import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { z } from "zod";
import { UserError } from "../../clients/errors.ts";
import { S3Client, S3Error } from "../../clients/s3.ts";
import { sampleObjects, type SampleObject } from "../../tools/fixtures/sample.ts";
import { checkInputs, configure, type Provider } from "../provider.ts";
import { differs } from "./inputs.ts";

export interface SampleLakehouseInputs {
  endpoint: string;
  bucket: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** Filled by `check`: another sample is uploaded beside what is there. */
  sampleDigest?: string;
}

export interface SampleLakehouseOutputs extends SampleLakehouseInputs {
  objects: number;
}

const schema = z.object({
  endpoint: z.url("must be a URL"),
  bucket: z.string().min(1, "must name a bucket"),
  region: z.string().min(1, "must name a region"),
  accessKeyId: z.string().min(1, "must not be empty"),
  secretAccessKey: z.string().min(1, "must not be empty"),
});

/** Relative to the checkout. */
const SAMPLE = "fixtures/lakehouse.tar.zst";
const CONNECTIONS = 8;

async function uploaded(inputs: SampleLakehouseInputs): Promise<SampleLakehouseOutputs> {
  const client = new S3Client(inputs);
  const objects = sampleObjects();
  const present = await keysOf(client, inputs.bucket);
  const missing = objects.filter(({ key }) => !present.has(key));
  const upload = async (): Promise<void> => {
    for (let object: SampleObject | undefined; (object = missing.pop());) {
      await client.put(inputs.bucket, object.key, Buffer.from(object.body));
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, upload));
  return { ...inputs, objects: objects.length };
}

async function keysOf(client: S3Client, bucket: string): Promise<Set<string>> {
  const keys = new Set<string>();
  for (let token: string | undefined; ;) {
    const page = await client.list(bucket, "", undefined, token);
    for (const { key } of page.objects) keys.add(key);
    token = page.continuationToken;
    if (token === undefined) return keys;
  }
}

const sampleLakehouse: Provider<SampleLakehouseInputs, SampleLakehouseOutputs> = {
  configure,

  async check(_olds, news) {
    const result = checkInputs(schema, news, { secrets: ["secretAccessKey"] });
    const sampleDigest = createHash("sha256")
      .update(await readFile(SAMPLE))
      .digest("hex");
    return { ...result, inputs: { ...news, sampleDigest } };
  },

  async diff(_id, olds, news) {
    return {
      changes: differs(olds, news, ["endpoint", "bucket", "region", "accessKeyId", "secretAccessKey", "sampleDigest"]),
    };
  },

  async create(inputs) {
    return { id: inputs.bucket, outs: await uploaded(inputs) };
  },

  /**
   * A bucket that has lost everything has to be filled again; what somebody has deleted from it stays deleted. While the
   * server is stopped nothing can be told.
   */
  async read(id, props) {
    const page = await new S3Client(props).list(props.bucket, "", 1).catch((error: unknown) => {
      if (error instanceof S3Error) throw new UserError(error.message, { cause: error });
    });
    return { id, props: page?.objects.length === 0 ? { ...props, sampleDigest: "" } : props };
  },

  async update(_id, _olds, news) {
    return { outs: await uploaded(news) };
  },

  /** Tables' files are never deleted. */
  async delete() {},
};

export default sampleLakehouse;
