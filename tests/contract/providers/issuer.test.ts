import { mkdtemp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRemoteJWKSet, importPKCS8, jwtVerify, SignJWT } from "jose";
import { request } from "undici";
import { startIssuer, type Issuer } from "../../../emulators/issuer/server.ts";
import documents, { issuerDocuments } from "../../../providers/issuerDocuments.provider.ts";
import signingKey from "../../../providers/signingKey.provider.ts";

let directory: string;
let issuer: Issuer;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "issuer-"));
  issuer = await startIssuer({ directory });
});

afterEach(async () => {
  await issuer.close();
  await rm(directory, { recursive: true });
});

const rsa = { kty: "RSA", kid: "k1", alg: "RS256", use: "sig", n: "AQAB", e: "AQAB" };
const inputs = () => ({ directory, issuer: issuer.url, jwks: { keys: [rsa] } });
const get = async (path: string, method: "GET" | "HEAD" | "POST" = "GET") => {
  const answer = await request(issuer.url + path, { method });
  return { status: answer.statusCode, type: answer.headers["content-type"], body: await answer.body.text() };
};

describe("the documents", () => {
  test("name the issuer, the key set and the algorithms of its keys", () => {
    const ec = { kty: "EC", kid: "k2", alg: "ES256" };
    const texts = issuerDocuments("https://auth.example/lk", "https://keys.example/set.json", { keys: [rsa, ec] });
    expect(JSON.parse(texts[".well-known/openid-configuration"]!)).toEqual({
      issuer: "https://auth.example/lk",
      jwks_uri: "https://keys.example/set.json",
      response_types_supported: ["id_token"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["RS256", "ES256"],
    });
    expect(JSON.parse(texts["jwks.json"]!)).toEqual({ keys: [rsa, ec] });
  });

  test("lead a verifier from the issuer URL to the key that signed, also after a rotation", async () => {
    const { outs: key } = await signingKey.create({ algorithm: "RS256", generation: 1, tokenLifetimeSeconds: 3600 });
    const { outs } = await documents.create({ ...inputs(), jwks: key.jwks });
    const sign = async (signer: typeof key) =>
      new SignJWT({ sub: "karma" })
        .setProtectedHeader({ alg: "RS256", kid: signer.kid })
        .setIssuer(issuer.url)
        .setExpirationTime("1h")
        .sign(await importPKCS8(signer.privateKey, "RS256"));
    const verify = async (token: string) => {
      const discovery = JSON.parse((await get("/.well-known/openid-configuration")).body) as { jwks_uri: string };
      return jwtVerify(token, createRemoteJWKSet(new URL(discovery.jwks_uri)), { issuer: issuer.url });
    };
    const first = await sign(key);
    expect((await verify(first)).payload.sub).toBe("karma");

    const rotated = await signingKey.update("signing-key", key, {
      algorithm: "RS256",
      generation: 2,
      tokenLifetimeSeconds: 3600,
    });
    const second = await sign(rotated.outs);
    await expect(verify(second)).rejects.toThrow("no applicable key");
    await documents.update("id", outs, { ...inputs(), jwks: rotated.outs.jwks });
    expect((await verify(first)).payload.sub).toBe("karma");
    expect((await verify(second)).payload.sub).toBe("karma");
  });

  test("are in place after create, and nothing else is", async () => {
    const { id, outs } = await documents.create(inputs());
    expect(await readdir(directory, { recursive: true })).toEqual(
      expect.arrayContaining([".well-known", ".well-known/openid-configuration", "jwks.json"]),
    );
    expect(await readdir(directory, { recursive: true })).toHaveLength(3);
    expect(await documents.diff(id, outs, inputs())).toEqual({ changes: false });
    expect(await documents.read(id, outs)).toEqual({ id, props: outs });
  });

  test.each([
    ["is missing", () => rm(join(directory, "jwks.json"))],
    ["was edited", () => writeFile(join(directory, ".well-known/openid-configuration"), "{}")],
  ])("are repaired when one %s", async (_how, damage) => {
    const { id, outs } = await documents.create(inputs());
    await damage();
    expect(await documents.diff(id, outs, inputs())).toEqual({ changes: true });
    const refreshed = await documents.read(id, outs);
    expect(refreshed.props!.documents).not.toEqual(outs.documents);
    await documents.update(id, refreshed.props!, inputs());
    expect(await readFile(join(directory, "jwks.json"), "utf8")).toBe(outs.documents["jwks.json"]);
    expect(await documents.diff(id, outs, inputs())).toEqual({ changes: false });
  });

  test("are gone for refresh when both files are", async () => {
    const { id, outs } = await documents.create(inputs());
    await documents.delete(id, outs);
    expect(await readdir(directory)).toEqual([]);
    expect(await documents.read(id, outs)).toEqual({});
    await expect(documents.delete(id, outs)).resolves.toBeUndefined();
  });

  test("deletion leaves what others put beside them", async () => {
    const { id, outs } = await documents.create(inputs());
    await writeFile(join(directory, ".well-known", "security.txt"), "x");
    await documents.delete(id, outs);
    expect(await readdir(directory, { recursive: true })).toEqual([".well-known", ".well-known/security.txt"]);
  });

  test("another folder replaces the resource", async () => {
    const { id, outs } = await documents.create(inputs());
    const moved = { ...inputs(), directory: join(directory, "elsewhere") };
    expect(await documents.diff(id, outs, moved)).toEqual({ changes: true, replaces: ["directory"] });
  });

  test("a folder that cannot be written is named, with the remedy", async () => {
    const file = join(directory, "file");
    await writeFile(file, "");
    await expect(documents.create({ ...inputs(), directory: file })).rejects.toMatchObject({
      name: "UserError",
      message: expect.stringMatching(/Cannot write the issuer document .*file\/jwks\.json.*pulumi up/) as unknown,
    });
  });

  test.each([
    [{ ...rsa, d: "secret-exponent" }, /^jwks: key k1 has private members \(d\)/],
    [{ kty: "oct", kid: "k1", alg: "HS256" }, /^jwks\.keys\.0\.kty must be RSA, EC or OKP/],
    [{ kty: "RSA", alg: "RS256" }, /^jwks\.keys\.0\.kid must be given/],
  ])("a key that must not be published is refused: %j", async (key, reason) => {
    const { failures } = await documents.check({}, { ...inputs(), jwks: { keys: [key] } });
    expect(failures).toEqual([{ property: "", reason: expect.stringMatching(reason) as unknown }]);
    expect(JSON.stringify(failures)).not.toContain("secret-exponent");
  });
});

describe("the server", () => {
  beforeEach(async () => {
    await documents.create(inputs());
    await writeFile(join(directory, "page.txt"), "text");
  });

  test("publishes both documents as JSON", async () => {
    expect(await get("/jwks.json")).toMatchObject({ status: 200, type: "application/json" });
    expect(JSON.parse((await get("/jwks.json")).body)).toEqual({ keys: [rsa] });
    expect(await get("/.well-known/openid-configuration")).toMatchObject({ status: 200, type: "application/json" });
    expect(await get("/page.txt?x=1")).toEqual({ status: 200, type: "application/octet-stream", body: "text" });
  });

  test("answers HEAD without a body", async () => {
    expect(await get("/jwks.json", "HEAD")).toEqual({ status: 200, type: "application/json", body: "" });
  });

  test.each(["/", "/none.json", "/.well-known", "/jwks.json/", "/..%2Fjwks.json", "//etc/passwd", "/%2e%2e/x"])(
    "has nothing at %s",
    async (path) => expect((await get(path)).status).toBe(404),
  );

  test("does not follow a path out of its folder", async () => {
    await mkdir(join(directory, "inner"));
    const inner = await startIssuer({ directory: join(directory, "inner") });
    const { hostname, port } = new URL(inner.url);
    const answer = await request(`http://${hostname}:${port}`, { method: "GET", path: "/../jwks.json" } as never);
    expect(answer.statusCode).toBe(404);
    await answer.body.dump();
    await inner.close();
  });

  test("takes no writes", async () => {
    expect(await get("/jwks.json", "POST")).toMatchObject({ status: 405 });
  });

  test("is healthy, and reads files anew for each request", async () => {
    expect(await get("/-/health")).toMatchObject({ status: 200 });
    await documents.create({ ...inputs(), jwks: { keys: [rsa, { ...rsa, kid: "k2" }] } });
    expect(JSON.parse((await get("/jwks.json")).body)).toMatchObject({ keys: [{ kid: "k1" }, { kid: "k2" }] });
  });
});

describe("the command", () => {
  const run = (env: Record<string, string>, ...args: string[]) =>
    spawn("node", ["emulators/issuer/main.ts", ...args], { env: { ...process.env, ...env } });

  test("says when it is ready, serves, and stops on SIGTERM", async () => {
    await documents.create(inputs());
    const child = run({ ISSUER_PORT: "0", ISSUER_DIR: directory }, "serve");
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    const ready = JSON.parse(line.toString()) as { ready: boolean; port: number };
    expect(ready).toEqual({ ready: true, port: expect.any(Number) as unknown });
    const answer = await request(`http://127.0.0.1:${ready.port}/jwks.json`);
    expect(await answer.body.json()).toEqual({ keys: [rsa] });
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([0, null]);
  });

  test("names a port that is taken", async () => {
    const blocker = createServer().listen(0, "127.0.0.1");
    await once(blocker, "listening");
    const { port } = blocker.address() as { port: number };
    const child = run({ ISSUER_PORT: String(port), ISSUER_DIR: directory }, "serve");
    const [message] = (await once(child.stderr, "data")) as [Buffer];
    expect(message.toString()).toContain(`cannot listen on 127.0.0.1:${port}`);
    expect(await once(child, "exit")).toEqual([1, null]);
    blocker.close();
  });

  test("explains itself when it is called wrongly", async () => {
    const child = run({ ISSUER_PORT: "", ISSUER_DIR: "" }, "serve");
    const [message] = (await once(child.stderr, "data")) as [Buffer];
    expect(message.toString()).toContain("usage:");
    expect(await once(child, "exit")).toEqual([2, null]);
  });
});
