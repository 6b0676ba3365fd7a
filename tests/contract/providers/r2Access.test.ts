import { createHash, randomBytes } from "node:crypto";
import type { AccountToken } from "../../../emulators/r2/accountTokens.ts";
import { startR2, type R2 } from "../../../emulators/r2/server.ts";
import { clock } from "../../../clients/retry.ts";
import provider, { type R2AccessState } from "../../../providers/r2Access.provider.ts";
import { makeScratch, type Scratch } from "../../support/scratch.ts";

// What is wrong with a bucket or a token is told before a warehouse is made on it.

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

const messageOf = (made: R2AccessState): Promise<string> =>
  provider.create(made).then(
    () => "it works",
    (error: Error) => error.message,
  );

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
  ["another account's id", () => withCredential({ accountId: OTHER_ACCOUNT }), /lakekeeper:r2\.accountId/],
  ["a token that may not mint", () => inputs(reader), /Admin Read & Write/],
  ["an expired token", () => inputs(expired), /revoked|expired/],
  ["a token that nobody knows", () => inputs(aToken("admin-read-write")), /has no such token|not been revoked/],
  [
    "a bucket that is not there",
    () => inputs(admin, { bucket: "lakehose" }),
    /There is no bucket lakehose.*lakekeeper:bucket/s,
  ],
  ["an EU bucket at the default endpoint", () => inputs(admin, { bucket: "european" }), /r2\.jurisdiction/],
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
])("%s is told with its remedy, and without a secret", async (_what, made, expected) => {
  const state = made();
  const message = await messageOf(state);
  expect(message).toMatch(expected);
  for (const secret of [state.credential.token, state.credential.secretAccessKey])
    expect(message).not.toContain(secret);
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
