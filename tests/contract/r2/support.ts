import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHash } from "node:crypto";
import { S3Client, type S3ClientConfig, S3ServiceException } from "@aws-sdk/client-s3";
import { AwsClient } from "aws4fetch";
import { startR2, type R2, type R2Options } from "../../../emulators/r2/server.ts";

export const accountId = "0123456789abcdef0123456789abcdef";
export const token = {
  id: "11111111111111111111111111111111",
  value: "parent-token-value",
  permission: "admin-read-write",
} as const;
export const bucket = "lakehouse";

/** An S3 key pair, temporary when it has a session token. */
export interface Keys {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

export const parentKeys: Keys = {
  accessKeyId: token.id,
  secretAccessKey: createHash("sha256").update(token.value).digest("hex"),
};

/** An emulator on a folder of its own, whose clock a test can set forward. */
export interface TestR2 extends R2 {
  directory: string;
  /** Seconds by which the emulator's clock is ahead. */
  clock: { offset: number };
  stop(): Promise<void>;
}

export async function startTestR2(options: Partial<R2Options> = {}): Promise<TestR2> {
  const directory = await mkdtemp(join(tmpdir(), "r2-emulator-"));
  const clock = { offset: 0 };
  const r2 = await startR2({
    directory,
    accountId,
    tokens: [token],
    buckets: [bucket],
    now: () => Date.now() + clock.offset * 1000,
    ...options,
  });
  return {
    ...r2,
    directory,
    clock,
    async stop() {
      await r2.close();
      await rm(directory, { recursive: true });
    },
  };
}

export function s3Client(r2: R2, keys: Keys = parentKeys, config: S3ClientConfig = {}): S3Client {
  return new S3Client({
    endpoint: r2.url,
    region: "auto",
    forcePathStyle: true,
    credentials: keys,
    maxAttempts: 1,
    ...config,
  });
}

export function signer(keys: Keys = parentKeys, region = "auto", service = "s3"): AwsClient {
  return new AwsClient({ ...keys, region, service, retries: 0 });
}

/** The code that an XML error names. */
export async function errorCode(response: Response): Promise<string> {
  return /<Code>(\w+)<\/Code>/.exec(await response.text())?.[1] ?? "";
}

/** How a call to the AWS SDK ended: `accepted`, or the name of the error and its status, e.g. `NoSuchKey 404`. */
export async function refusal(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return "accepted";
  } catch (error) {
    if (!(error instanceof S3ServiceException)) throw error;
    return `${error.name} ${error.$metadata.httpStatusCode}`;
  }
}
