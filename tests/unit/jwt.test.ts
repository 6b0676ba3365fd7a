import { decodeProtectedHeader, exportPKCS8, exportSPKI, generateKeyPair, importSPKI, jwtVerify } from "jose";
import { accessToken, signJwt, type Identity } from "../../clients/token.ts";

async function identityWith(
  algorithm: "RS256" | "ES256",
): Promise<{ identity: Extract<Identity, { kind: "signing-key" }>; publicKey: string }> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true });
  const identity = {
    kind: "signing-key" as const,
    privateKey: await exportPKCS8(privateKey),
    kid: "key-1",
    algorithm,
    issuer: "http://issuer.test",
    audience: "lakekeeper",
    subject: "deployer",
  };
  return { identity, publicKey: await exportSPKI(publicKey) };
}

test.each(["RS256", "ES256"] as const)("a %s token verifies and says what Lakekeeper reads", async (algorithm) => {
  const { identity, publicKey } = await identityWith(algorithm);
  const issuedAt = Math.floor(Date.now() / 1_000);
  const token = await signJwt(identity, { issuedAt, expiresAt: issuedAt + 60 });
  const { payload } = await jwtVerify(token, await importSPKI(publicKey, algorithm), {
    issuer: "http://issuer.test",
    audience: "lakekeeper",
  });
  expect(decodeProtectedHeader(token)).toEqual({ alg: algorithm, kid: "key-1", typ: "JWT" });
  expect(payload).toEqual({
    iss: "http://issuer.test",
    sub: "deployer",
    aud: "lakekeeper",
    client_id: "deployer",
    name: "deployer",
    iat: issuedAt,
    exp: issuedAt + 60,
  });
});

test("a token is used again while it is valid, and minted anew shortly before it expires", async () => {
  const { identity } = await identityWith("ES256");
  const first = await accessToken(identity);
  expect(await accessToken({ ...identity })).toBe(first);
  const now = Date.now();
  jest.spyOn(Date, "now").mockReturnValue(now + 545_000);
  expect(await accessToken(identity)).not.toBe(first);
  jest.restoreAllMocks();
});

test("a given token is passed on, and no identity needs none", async () => {
  expect(await accessToken({ kind: "token", token: "given" })).toBe("given");
  expect(await accessToken({ kind: "none" })).toBeUndefined();
});
