import { z } from "zod";
import { CloudflareR2 } from "../clients/cloudflare.ts";
import { UserError } from "../clients/errors.ts";
import { retry } from "../clients/retry.ts";
import { S3Client, S3Error } from "../clients/s3.ts";
import { checkFailure, checkInputs, configure, hasUnknown, type Provider } from "./provider.ts";
import { sameValue } from "./sameValue.ts";

export interface R2AccessState {
  bucket: string;
  endpoint: string;
  jurisdiction: "default" | "eu" | "fedramp";
  credential: { type: string; accountId: string; accessKeyId: string; secretAccessKey: string; token: string };
}

const text = z.string("must be a text").min(1, "must not be empty");

const schema = z.object({
  bucket: text,
  endpoint: z
    .url({ protocol: /^https?$/, error: "must be the http(s) URL of the S3 API" })
    .superRefine((url, context) => {
      if (URL.canParse(url) && new URL(url).pathname !== "/") {
        context.addIssue({ code: "custom", message: "must be the URL of the S3 API alone, without bucket or path" });
      }
    }),
  jurisdiction: z.enum(["default", "eu", "fedramp"]),
  credential: z.object({
    type: z.literal("cloudflare-r2"),
    accountId: z.string().regex(/^[0-9a-f]{32}$/, "must be Cloudflare's account id, 32 hexadecimal digits"),
    accessKeyId: text,
    secretAccessKey: text,
    token: text,
  }),
});

/** A bucket or a token that was made moments ago is seen everywhere only after some seconds. */
const DELAYS_SECONDS = [1, 2, 4, 8, 15];

async function tried(inputs: R2AccessState): Promise<void> {
  await retry(
    () => tryOnce(inputs),
    (error, attempt) => {
      const delay = DELAYS_SECONDS[attempt - 1];
      if (delay === undefined || !(error instanceof UserError)) return undefined;
      if (attempt > 1) console.log(`R2 does not work yet; trying again in ${delay} s: ${error.message}`);
      return delay * 1_000;
    },
  );
}

async function tryOnce(inputs: R2AccessState): Promise<void> {
  const { bucket, endpoint, credential } = inputs;
  const { accessKeyId, secretAccessKey } = credential;
  const own = new S3Client({ endpoint, region: "auto", accessKeyId, secretAccessKey });
  await own.list(bucket, "", 1).catch((error: unknown) => {
    throw explained(error, inputs, "with the token's own keys");
  });
  const minted = await new CloudflareR2(credential.accountId, credential.token).temporaryCredentials({
    bucket,
    parentAccessKeyId: accessKeyId,
    // As Lakekeeper asks for; a child cannot have more than its parent.
    permission: "object-read-write",
    ttlSeconds: 300,
  });
  await new S3Client({ endpoint, region: "auto", ...minted }).list(bucket, "", 1).catch((error: unknown) => {
    throw explained(error, inputs, "with a temporary credential that Cloudflare has minted");
  });
}

/** What the S3 API's refusal means for the settings. */
function explained(error: unknown, { bucket, endpoint, jurisdiction }: R2AccessState, how: string): UserError {
  const prefix = `R2 at ${endpoint} cannot be read ${how}: `;
  if (!(error instanceof S3Error)) {
    const reason = error instanceof Error ? error.message : String(error);
    return new UserError(
      `${prefix}${reason}. Check lakekeeper:r2.accountId, r2.jurisdiction and r2.endpoint, which make this address.`,
    );
  }
  return new UserError(`${prefix}${error.message}. ${remedy(error, bucket, jurisdiction)}`);
}

function differs(olds: Partial<R2AccessState>, news: R2AccessState): boolean {
  return olds.bucket !== news.bucket || olds.endpoint !== news.endpoint || !sameValue(olds.credential, news.credential);
}

function remedy({ code, status }: S3Error, bucket: string, jurisdiction: string): string {
  switch (code) {
    case "NoSuchBucket":
      return (
        `There is no bucket ${bucket} in the jurisdiction ${jurisdiction}: check lakekeeper:bucket, and lakekeeper:r2.jurisdiction ` +
        "and r2.endpoint (a bucket of the EU is found at the EU's endpoint only); or have the stack make it with lakekeeper:r2.bucket create."
      );
    case "SignatureDoesNotMatch":
      return "The secret access key is not that of the access key id: it is the SHA-256 of the token's value, in hex.";
    case "InvalidAccessKeyId":
    case "Unauthorized":
      return (
        "This account has no such token: check lakekeeper:r2.accountId, and that the token has not expired or been revoked. " +
        "Another one is set with lakekeeper:r2Credentials, or made by the stack when lakekeeper:r2TokenGeneration is raised."
      );
    case "AccessDenied":
      return `The token may not read the bucket ${bucket}: it needs Admin Read & Write on the account's R2.`;
    case "RequestTimeTooSkewed":
      return `The clock of this machine says ${new Date().toISOString()}: set it right.`;
    default:
      return status >= 500
        ? "R2 is not well: run the command again later."
        : "Check the settings lakekeeper:r2 and lakekeeper:r2Credentials.";
  }
}

const r2Access: Provider<R2AccessState> = {
  configure,

  /** Tries them, too, so that a preview tells what is wrong where bucket and token are there already. */
  async check(olds, news) {
    const result = checkInputs(schema, news, { secrets: ["credential"] });
    if (result.failures.length > 0 || hasUnknown(news) || !differs(olds, news)) return result;
    try {
      await tried(news);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      result.failures.push(checkFailure(error.message));
    }
    return result;
  },

  async diff(_id, olds, news) {
    return { changes: differs(olds, news) };
  },

  async create(inputs) {
    return { id: inputs.bucket, outs: inputs };
  },

  async read(id, props) {
    return { id, props };
  },

  async update(_id, _olds, news) {
    return { outs: news };
  },

  async delete() {},
};

export default r2Access;
