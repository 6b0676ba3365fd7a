import { generateKeyPairSync } from "node:crypto";
import { decodeProtectedHeader, importSPKI, jwtVerify } from "jose";
import token, { type TokenInputs, type TokenOutputs } from "../../providers/token.provider.ts";

const pair = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" },
});

const DAY = 86_400;
const inputs: TokenInputs = {
  subject: "ml-runner",
  signingKey: pair.privateKey,
  kid: "k1",
  algorithm: "RS256",
  issuer: "http://127.0.0.1:9000",
  audience: "lakekeeper",
  lifetimeSeconds: 90 * DAY,
  renewBeforeSeconds: 30 * DAY,
};

const create = async () => (await token.create(inputs)).outs;
const changes = async (olds: TokenOutputs, changed: Partial<TokenInputs> = {}) =>
  (await token.diff("ml-runner", olds, { ...inputs, ...changed })).changes;
const update = async (olds: TokenOutputs, changed: Partial<TokenInputs> = {}) =>
  (await token.update("ml-runner", olds, { ...inputs, ...changed })).outs;

let log: jest.SpyInstance;
beforeEach(() => (log = jest.spyOn(console, "log").mockImplementation(() => {})));
afterEach(() => jest.restoreAllMocks());

/** Lets the clock stand so many days after now until the test ends. */
function afterDays(days: number): void {
  const then = Date.now() + days * DAY * 1000;
  jest.spyOn(Date, "now").mockReturnValue(then);
}

test("is signed by the key and says who it is for", async () => {
  const outs = await create();
  const { payload } = await jwtVerify(outs.token, await importSPKI(pair.publicKey, "RS256"), {
    issuer: inputs.issuer,
    audience: inputs.audience,
    subject: "ml-runner",
  });
  expect(decodeProtectedHeader(outs.token)).toEqual({ alg: "RS256", kid: "k1", typ: "JWT" });
  expect(payload).toMatchObject({ client_id: "ml-runner", name: "ml-runner" });
  expect(payload.exp! - payload.iat!).toBe(90 * DAY);
  expect(outs.issuedAt).toBe(new Date(payload.iat! * 1000).toISOString());
  expect(outs.expiresAt).toBe(new Date(payload.exp! * 1000).toISOString());
});

test("nothing changes before the renewal window", async () => {
  const outs = await create();
  afterDays(59.9);
  expect(await changes(outs)).toBe(false);
  expect(log).not.toHaveBeenCalled();
});

test("the renewal window shows in the preview, and update then signs anew", async () => {
  const outs = await create();
  afterDays(60.1);
  expect(await changes(outs)).toBe(true);
  expect(log).toHaveBeenCalledWith(`renew: expires ${outs.expiresAt}`);
  const renewed = await update(outs);
  expect(Date.parse(renewed.expiresAt)).toBeGreaterThan(Date.parse(outs.expiresAt));
  expect(renewed.token).not.toBe(outs.token);
  expect(await changes(renewed)).toBe(false);
});

test.each([
  { kid: "k2" },
  { issuer: "https://auth.example" },
  { audience: "other" },
  { subject: "karma" },
  { lifetimeSeconds: 91 * DAY },
  { algorithm: "ES256" as const },
])("a token that says something else is signed anew: %j", async (changed) => {
  expect(await changes(await create(), changed)).toBe(true);
});

test("update signs for the new subject", async () => {
  const renewed = await update(await create(), { subject: "karma" });
  const { payload } = await jwtVerify(renewed.token, await importSPKI(pair.publicKey, "RS256"));
  expect(payload.sub).toBe("karma");
});

test("another renewal window alone keeps the token", async () => {
  const outs = await create();
  expect(await changes(outs, { renewBeforeSeconds: DAY })).toBe(true);
  expect(await update(outs, { renewBeforeSeconds: DAY })).toEqual({ ...outs, renewBeforeSeconds: DAY });
});

test("refresh keeps the token", async () => {
  const outs = await create();
  expect(await token.read("ml-runner", outs)).toEqual({ id: "ml-runner", props: outs });
});

test("deletion says that the token goes on being accepted, and until when", async () => {
  const outs = await create();
  await token.delete("ml-runner", outs);
  expect(log.mock.calls).toEqual([
    [`ml-runner's token is valid until ${outs.expiresAt}, unless its key k1 goes before`],
  ]);
  log.mockClear();
  afterDays(91);
  await token.delete("ml-runner", outs);
  expect(log).not.toHaveBeenCalled();
});

test.each<[Partial<TokenInputs>, string]>([
  [{ lifetimeSeconds: 59, renewBeforeSeconds: 0 }, "lifetimeSeconds must be 60 seconds or more, not 59"],
  [{ lifetimeSeconds: 315_360_001 }, "lifetimeSeconds must be ten years (315360000 seconds) or less"],
  [{ renewBeforeSeconds: 90 * DAY }, "renewBeforeSeconds must be less than lifetimeSeconds (7776000)"],
  [{ renewBeforeSeconds: -1 }, "renewBeforeSeconds must be 0 or more, not -1"],
  [{ subject: "" }, "subject must not be empty"],
  [{ issuer: "auth.example" }, 'issuer must be an http or https URL, not "auth.example"'],
  [{ signingKey: "hunter2" }, "signingKey must be a private key in PKCS#8 PEM"],
])("refuses %j", async (changed, reason) => {
  const { failures } = await token.check({}, { ...inputs, ...changed });
  expect(failures).toEqual([{ property: "", reason: expect.stringContaining(reason) as unknown }]);
  expect(JSON.stringify(failures)).not.toContain("hunter2");
});

test("what is not known yet is not refused", async () => {
  const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
  const { failures } = await token.check({}, { ...inputs, signingKey: unknown, issuer: unknown, kid: unknown });
  expect(failures).toEqual([]);
});
