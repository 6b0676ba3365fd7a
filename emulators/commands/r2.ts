import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { UserError } from "../../clients/errors.ts";
import { Faults } from "../faults.ts";
import { secretAccessKey } from "../r2/accountTokens.ts";
import { S3Error } from "../r2/errors.ts";
import { startR2 } from "../r2/server.ts";
import { listening, readOptions, remembered, type StandIn } from "./standIn.ts";

/** An R2 account with one API token that may do everything. */
export const r2: StandIn = {
  async start(args) {
    const { directory, port, faults, own } = readOptions("r2", 9000, args, {
      bucket: { type: "string", multiple: true, default: ["lakehouse"] },
      log: { type: "string" },
    });
    const account = await remembered(join(directory, "account.json"), () => ({
      accountId: randomBytes(16).toString("hex"),
      tokenId: randomBytes(16).toString("hex"),
      tokenValue: randomBytes(30).toString("base64url"),
    }));
    const token = { id: account.tokenId, value: account.tokenValue, permission: "admin-read-write" } as const;
    const buckets = own.bucket;
    const requestLog = own.log;
    const running = await listening(
      port,
      startR2({
        directory,
        port,
        accountId: account.accountId,
        tokens: [token],
        buckets,
        faults: new Faults(faults),
        ...(requestLog !== undefined && { requestLog }),
      }),
    ).catch((error: unknown) => {
      if (!(error instanceof S3Error)) throw error;
      throw new UserError(`--bucket ${buckets.join(", ")}: ${error.message} It has 3 to 63 of a-z, 0-9 and "-".`);
    });
    const secret = secretAccessKey(token);
    const [bucket = "<bucket>"] = buckets;
    const text = `R2 account on ${running.url}, kept in ${directory}

  account id         ${account.accountId}
  API token id       ${token.id}   (the S3 access key id)
  API token value    ${token.value}
  S3 secret          ${secret}   (SHA-256 of the value)
  S3 endpoint        ${running.url}   (region auto, path style)
  buckets            ${buckets.join(", ")}

AWS CLI:
  AWS_ACCESS_KEY_ID=${token.id} AWS_SECRET_ACCESS_KEY=${secret} AWS_DEFAULT_REGION=auto \\
    aws --endpoint-url ${running.url} s3 ls s3://${bucket}/

PyIceberg, beside the properties of the catalog:
  "s3.endpoint": "${running.url}", "s3.region": "auto",
  "s3.access-key-id": "${token.id}",
  "s3.secret-access-key": "${secret}"

Temporary credentials:
  curl ${running.url}/client/v4/accounts/${account.accountId}/r2/temp-access-credentials \\
    -H 'Authorization: Bearer ${token.value}' \\
    -d '{"bucket":"${bucket}","parentAccessKeyId":"${token.id}","permission":"object-read-only","ttlSeconds":3600}'
`;
    return { text, close: () => running.close() };
  },
};
