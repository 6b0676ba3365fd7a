import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { UserError } from "../../clients/errors.ts";
import { Faults } from "../faults.ts";
import { secretAccessKey } from "../r2/accountTokens.ts";
import { S3Error } from "../r2/errors.ts";
import { jurisdictions } from "../r2/jurisdictions.ts";
import { startR2, type R2 } from "../r2/server.ts";
import { listening, readOptions, remembered, type StandIn } from "./standIn.ts";

interface Account {
  accountId: string;
  tokenId: string;
  tokenValue: string;
}

/** An R2 account with one API token that may do everything. */
export const r2: StandIn = {
  async start(args) {
    const { directory, port, faults, own } = readOptions("r2", 9000, args, {
      bucket: { type: "string", multiple: true, default: ["lakehouse"] },
      jurisdiction: { type: "string", multiple: true, default: [] },
      zone: { type: "string", multiple: true, default: [] },
      log: { type: "string" },
    });
    const wanted = own.jurisdiction;
    const unknown = wanted.find((name) => !(jurisdictions as readonly string[]).includes(name));
    if (unknown !== undefined) {
      throw new UserError(`--jurisdiction is ${JSON.stringify(unknown)}: it is one of ${jurisdictions.join(", ")}.`);
    }
    const account = await remembered<Account>(join(directory, "account.json"), () => ({
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
        zones: own.zone,
        jurisdictions: Object.fromEntries(wanted.map((name) => [name, { buckets }])),
        faults: new Faults(faults),
        ...(requestLog !== undefined && { requestLog }),
      }),
    ).catch((error: unknown) => {
      if (!(error instanceof S3Error)) throw error;
      throw new UserError(`--bucket ${buckets.join(", ")}: ${error.message} It has 3 to 63 of a-z, 0-9 and "-".`);
    });
    const text = describe(running, { ...account, secret: secretAccessKey(token), directory, buckets });
    return { text, close: () => running.close() };
  },
};

interface Known extends Account {
  secret: string;
  directory: string;
  buckets: string[];
}

function describe({ url, jurisdictions, zones }: R2, known: Known): string {
  const { accountId, tokenId, tokenValue, secret, directory, buckets } = known;
  const [bucket = "<bucket>"] = buckets;
  const further = Object.entries(jurisdictions).map(
    ([name, there]) => `  ${`S3 endpoint, ${name}`.padEnd(18)} ${there}\n`,
  );
  return `R2 account on ${url}, kept in ${directory}

  account id         ${accountId}
  API token id       ${tokenId}   (the S3 access key id)
  API token value    ${tokenValue}
  S3 secret          ${secret}   (SHA-256 of the value)
  S3 endpoint        ${url}   (region auto, path style)
${further.join("")}  buckets            ${buckets.join(", ")}
${zones.map(({ id, name }) => `  ${`zone ${name}`.padEnd(18)} ${id}\n`).join("")}  Workers            ${url}/-/workers/<name>/

AWS CLI:
  AWS_ACCESS_KEY_ID=${tokenId} AWS_SECRET_ACCESS_KEY=${secret} AWS_DEFAULT_REGION=auto \\
    aws --endpoint-url ${url} s3 ls s3://${bucket}/

PyIceberg, beside the properties of the catalog:
  "s3.endpoint": "${url}", "s3.region": "auto",
  "s3.access-key-id": "${tokenId}",
  "s3.secret-access-key": "${secret}"

Pulumi's Cloudflare provider, with the stand-in for its plugin:
  PATH=$PWD/emulators/plugins/bin:$PATH CLOUDFLARE_BASE_URL=${url}/client/v4 CLOUDFLARE_API_TOKEN=${tokenValue}

Temporary credentials:
  curl ${url}/client/v4/accounts/${accountId}/r2/temp-access-credentials \\
    -H 'Authorization: Bearer ${tokenValue}' \\
    -d '{"bucket":"${bucket}","parentAccessKeyId":"${tokenId}","permission":"object-read-only","ttlSeconds":3600}'
`;
}
