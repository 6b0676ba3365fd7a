import { calculateJwkThumbprint, CompactSign, compactVerify, importJWK, importPKCS8 } from "jose";
import signingKey, { type SigningKeyInputs, type SigningKeyOutputs } from "../../providers/signingKey.provider.ts";

const inputs: SigningKeyInputs = { algorithm: "RS256", generation: 1, tokenLifetimeSeconds: 3600 };
const DAY_MS = 86_400_000;

const create = async (changed: Partial<SigningKeyInputs> = {}) =>
  (await signingKey.create({ ...inputs, ...changed })).outs;
const update = async (olds: SigningKeyOutputs, changed: Partial<SigningKeyInputs>) =>
  (await signingKey.update("signing-key", olds, { ...inputs, ...changed })).outs;
const changes = async (olds: SigningKeyOutputs, changed: Partial<SigningKeyInputs> = {}) =>
  (await signingKey.diff("signing-key", olds, { ...inputs, ...changed })).changes;

/** Lets the clock stand `ms` after now until the test ends. */
function later(ms: number): void {
  const then = Date.now() + ms;
  jest.spyOn(Date, "now").mockReturnValue(then);
}

afterEach(() => jest.restoreAllMocks());

test.each(["RS256", "ES256"] as const)("a %s private key signs what its published half verifies", async (algorithm) => {
  const key = await create({ algorithm });
  const signed = await new CompactSign(new TextEncoder().encode("hello"))
    .setProtectedHeader({ alg: algorithm, kid: key.kid })
    .sign(await importPKCS8(key.privateKey, algorithm));
  const verified = await compactVerify(signed, await importJWK(key.jwks.keys[0]!));
  expect(new TextDecoder().decode(verified.payload)).toBe("hello");
});

test("the key id is the RFC 7638 thumbprint, and what is published has no private part", async () => {
  const key = await create();
  expect(key.kid).toBe(await calculateJwkThumbprint(key.publicJwk));
  expect(Object.keys(key.publicJwk).sort()).toEqual(["alg", "e", "kid", "kty", "n", "use"]);
  expect(key.jwks).toEqual({ keys: [key.publicJwk] });
});

test("the same inputs change nothing", async () => {
  expect(await changes(await create())).toBe(false);
});

test.each([{ generation: 2 }, { algorithm: "ES256" as const }])(
  "%j makes a new key in place and keeps the old one published until its last token has expired",
  async (changed) => {
    const old = await create();
    expect(await signingKey.diff("signing-key", old, { ...inputs, ...changed })).toEqual({ changes: true });
    const before = Date.now();
    const key = await update(old, changed);
    expect(key.kid).not.toBe(old.kid);
    expect(key.privateKey).not.toBe(old.privateKey);
    expect(key.jwks.keys).toEqual([key.publicJwk, old.publicJwk]);
    const until = Date.parse(key.retired[0]!.until);
    expect(until).toBeGreaterThanOrEqual(before + 3_600_000);
    expect(until).toBeLessThanOrEqual(Date.now() + 3_600_000);
  },
);

test("another token lifetime keeps the key", async () => {
  const old = await create();
  expect(await changes(old, { tokenLifetimeSeconds: 60 })).toBe(true);
  const key = await update(old, { tokenLifetimeSeconds: 60 });
  expect(key).toMatchObject({ kid: old.kid, privateKey: old.privateKey, jwks: old.jwks, tokenLifetimeSeconds: 60 });
});

test("a lowered lifetime does not cut short the tokens that were given out before", async () => {
  const lowered = await update(await create({ tokenLifetimeSeconds: 86_400 }), { tokenLifetimeSeconds: 60 });
  const key = await update(lowered, { tokenLifetimeSeconds: 60, generation: 2 });
  expect(Date.parse(key.retired[0]!.until)).toBeGreaterThan(Date.now() + DAY_MS - 60_000);
});

test("a retired key leaves the published set once its time is past, and the preview says which", async () => {
  const old = await create();
  const rotated = await update(old, { generation: 2 });
  expect(await changes(rotated, { generation: 2 })).toBe(false);

  later(3_600_001);
  const log = jest.spyOn(console, "log").mockImplementation(() => {});
  expect(await changes(rotated, { generation: 2 })).toBe(true);
  expect(log).toHaveBeenCalledWith(expect.stringContaining(`retired key ${old.kid} leaves the JWKS`));
  const pruned = await update(rotated, { generation: 2 });
  expect(pruned).toMatchObject({ kid: rotated.kid, retired: [], jwks: { keys: [rotated.publicJwk] } });
});

test("two rotations within a lifetime keep both old keys", async () => {
  const first = await create();
  const second = await update(first, { generation: 2 });
  const third = await update(second, { generation: 3 });
  expect(third.jwks.keys.map((key) => key.kid)).toEqual([third.kid, second.kid, first.kid]);
});

test("refresh keeps the key, deletion has nothing to take away", async () => {
  const key = await create();
  expect(await signingKey.read("signing-key", key)).toEqual({ id: "signing-key", props: key });
  await expect(signingKey.delete("signing-key", key)).resolves.toBeUndefined();
});

test.each([
  [{ algorithm: "HS256" as "RS256" }, "algorithm must be RS256 or ES256"],
  [{ generation: 0 }, "generation must be 1 or more"],
  [{ generation: 1.5 }, "generation must be a whole number"],
  [{ tokenLifetimeSeconds: 59 }, "tokenLifetimeSeconds must be 60 seconds or more"],
  [{ tokenLifetimeSeconds: 1e9 }, "tokenLifetimeSeconds must be ten years"],
])("refuses %j", async (changed, reason) => {
  const { failures } = await signingKey.check({}, { ...inputs, ...changed });
  expect(failures).toEqual([{ property: "", reason: expect.stringContaining(reason) as unknown }]);
});

test("refuses to go back to an earlier generation: its key is gone", async () => {
  const { failures } = await signingKey.check({ ...inputs, generation: 3 }, { ...inputs, generation: 2 });
  expect(failures).toEqual([
    {
      property: "",
      reason: expect.stringMatching(/keyGeneration cannot go from 3 back to 2.*Set it to 3, or higher/) as unknown,
    },
  ]);
});
