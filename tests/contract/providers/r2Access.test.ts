import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import type { AccountToken } from "../../../emulators/r2/accountTokens.ts";
import { startR2, type R2 } from "../../../emulators/r2/server.ts";
import { clock } from "../../../clients/retry.ts";
import provider, { type R2AccessState } from "../../../providers/r2Access.provider.ts";
import { makeScratch, type Scratch } from "../../support/scratch.ts";

// What is wrong with a bucket or a token is told before a warehouse is made on it.

const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const ACCOUNT = "0123456789abcdef0123456789abcdef";
const OTHER_ACCOUNT = "fedcba9876543210fedcba9876543210";

const aToken = (permission: AccountToken["permission"], more: Partial<AccountToken> = {}): AccountToken => ({
  id: randomBytes(16).toString("hex"),
  value: randomBytes(20).toString("hex"),
  permission,
  ...more,
});
const admin = aToken("admin-read-write");
const reader = aToken("object-read-only");
const expired = aToken("admin-read-write", { expires: Date.now() - 1_000 });

let scratch: Scratch;
let r2: R2;
let before: string | undefined;
const realSleep = clock.sleep;
let slept: number[];

beforeAll(async () => {
  scratch = await makeScratch();
  r2 = await startR2({
    directory: scratch.state,
    accountId: ACCOUNT,
    tokens: [admin, reader, expired],
    buckets: ["lakehouse"],
    jurisdictions: { eu: { buckets: ["european"] } },
  });
  before = process.env["CLOUDFLARE_BASE_URL"];
  process.env["CLOUDFLARE_BASE_URL"] = `${r2.url}/client/v4`;
});
afterAll(async () => {
  if (before === undefined) delete process.env["CLOUDFLARE_BASE_URL"];
  else process.env["CLOUDFLARE_BASE_URL"] = before;
  await r2.close();
  await scratch.remove();
});
beforeEach(() => {
  slept = [];
  clock.sleep = (milliseconds) => {
    slept.push(milliseconds);
    return Promise.resolve();
  };
  jest.spyOn(console, "log").mockReturnValue();
});
afterEach(() => {
  clock.sleep = realSleep;
  jest.restoreAllMocks();
});

function inputs(token: AccountToken, changed: Partial<R2AccessState> = {}): R2AccessState {
  const secretAccessKey = createHash("sha256").update(token.value).digest("hex");
  return {
    bucket: "lakehouse",
    endpoint: r2.url,
    jurisdiction: "default",
    credential: {
      type: "cloudflare-r2",
      accountId: ACCOUNT,
      accessKeyId: token.id,
      secretAccessKey,
      token: token.value,
    },
    ...changed,
  };
}

const withCredential = (changed: Partial<R2AccessState["credential"]>): R2AccessState => {
  const right = inputs(admin);
  return { ...right, credential: { ...right.credential, ...changed } };
};

/** What the preview of a new stack says. */
async function messageOf(made: R2AccessState): Promise<string> {
  const { failures } = await provider.check({}, made);
  return failures.map(({ reason }) => reason).join("\n") || "it works";
}

test("a token that may mint, on a bucket that is there, is tried at once and waits for nothing", async () => {
  expect(await messageOf(inputs(admin))).toBe("it works");
  expect(slept).toEqual([]);
});

test("a token that was made moments ago is tried again until it is seen", async () => {
  const fresh = aToken("admin-read-write");
  clock.sleep = (milliseconds) => {
    slept.push(milliseconds);
    if (slept.length === 2) r2.addToken(fresh);
    return Promise.resolve();
  };
  expect(await messageOf(inputs(fresh))).toBe("it works");
  expect(slept).toEqual([1_000, 2_000]);
});

test.each([
  [
    "another account's id",
    () => withCredential({ accountId: OTHER_ACCOUNT }),
    /accounts\/fedcba9876543210fedcba9876543210\/.*of this account \(lakekeeper:r2\.accountId\)/,
  ],
  [
    "a token that may not mint",
    () => inputs(reader),
    /temp-access-credentials: 40[13].*it may not mint credentials: it has to be an account token with Admin Read & Write on R2/,
  ],
  [
    "an expired token",
    () => inputs(expired),
    /401 Unauthorized.*that the token has not expired or been revoked\. Another one is set with lakekeeper:r2Credentials, or made by the stack when lakekeeper:r2TokenGeneration is raised/,
  ],
  [
    "a token that nobody knows",
    () => inputs(aToken("admin-read-write")),
    /This account has no such token: check lakekeeper:r2\.accountId/,
  ],
  [
    "a bucket that is not there",
    () => inputs(admin, { bucket: "lakehose" }),
    /404 NoSuchBucket.*There is no bucket lakehose in the jurisdiction default: check lakekeeper:bucket, /,
  ],
  [
    "an EU bucket at the default endpoint",
    () => inputs(admin, { bucket: "european" }),
    /There is no bucket european in the jurisdiction default: check .*lakekeeper:r2\.jurisdiction and r2\.endpoint \(a bucket of the EU is found at the EU's endpoint only\)/,
  ],
  [
    "a secret that is not the token's",
    () => withCredential({ secretAccessKey: "0".repeat(64) }),
    /SHA-256 of the token's value/,
  ],
  [
    "the value of another token",
    () => withCredential({ token: "nobody-has-made-this-token-at-all-1234567" }),
    /r2Credentials\.token/,
  ],
  [
    "an endpoint where nothing answers",
    () => inputs(admin, { endpoint: "http://127.0.0.1:9" }),
    /R2 at http:\/\/127\.0\.0\.1:9 cannot be read .*r2\.endpoint/,
  ],
])("%s is told by the preview with its remedy, and without a secret", async (_what, made, expected) => {
  const state = made();
  const message = await messageOf(state);
  expect(message).toMatch(expected);
  for (const secret of [state.credential.token, state.credential.secretAccessKey])
    expect(message).not.toContain(secret);
});

test("the clock of this machine is named, with what it says, when R2 goes by another time", async () => {
  const directory = join(scratch.state, "ahead");
  const now = (): number => Date.now() + 3_600_000;
  const ahead = await startR2({ directory, accountId: ACCOUNT, tokens: [admin], buckets: ["lakehouse"], now });
  const message = await messageOf(inputs(admin, { endpoint: ahead.url }));
  await ahead.close();
  expect(message).toMatch(/403 RequestTimeTooSkewed.*The clock of this machine says \d{4}-.*Z: set it right\./);
});

test("what is not known yet, and what has been tried before, is not tried", async () => {
  const wrong = inputs(admin, { bucket: "lakehose" });
  expect((await provider.check(wrong, wrong)).failures).toEqual([]);
  expect((await provider.check({}, { ...wrong, bucket: UNKNOWN })).failures).toEqual([]);
  expect((await provider.check(inputs(admin), wrong)).failures).toHaveLength(1);
});

test.each([
  [{ endpoint: "https://r2.example/lakehouse" }, "endpoint must be the URL of the S3 API alone"],
  [{ endpoint: "r2.example" }, "endpoint must be the http(s) URL"],
])("%j is refused in the preview", async (changed, reason) => {
  const { failures } = await provider.check({}, inputs(admin, changed));
  expect(failures[0]?.reason).toContain(reason);
});

test("it is tried again when the credential or the bucket is another, and only then", async () => {
  const state = inputs(admin);
  expect(await provider.diff("lakehouse", state, inputs(admin))).toEqual({ changes: false });
  expect(await provider.diff("lakehouse", state, inputs(reader))).toEqual({ changes: true });
  expect(await provider.diff("lakehouse", state, inputs(admin, { bucket: "other" }))).toEqual({ changes: true });
});
