import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { signer, type Keys } from "../r2/support.ts";

// `node emulators/main.ts`, as a person uses it.

let folder: string;
const running = new Set<ChildProcess>();

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "stand-in-"));
  // The user who runs Postgres for root has to reach its data.
  await chmod(folder, 0o755);
});
afterEach(async () => {
  for (const child of running) await stop(child);
  await rm(folder, { recursive: true });
});

function spawnMain(...args: string[]) {
  const child = spawn("node", ["--disable-warning=ExperimentalWarning", "emulators/main.ts", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  child.once("exit", () => running.delete(child));
  return child;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.kill("SIGINT")) await once(child, "exit");
}

/** Starts one and waits until it has told what to know; `url` is where it is. */
async function start(name: string, ...args: string[]): Promise<{ child: ChildProcess; text: string; url: string }> {
  const child = spawnMain(name, "--dir", join(folder, name), "--port", "0", ...args);
  let text = "";
  let complaint = "";
  child.stderr.on("data", (chunk: Buffer) => (complaint += chunk.toString()));
  for await (const chunk of child.stdout) {
    text += String(chunk);
    if (text.includes("Ctrl-C stops it")) return { child, text, url: /on (http:\S+),/.exec(text)![1]! };
  }
  throw new Error(`It ended: ${text}${complaint}`);
}

async function outcome(...args: string[]): Promise<{ status: unknown; out: string; complaint: string }> {
  const child = spawnMain(...args);
  let out = "";
  let complaint = "";
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (complaint += chunk.toString()));
  const [status] = (await once(child, "close")) as unknown[];
  return { status, out, complaint };
}

function printed(text: string, label: string): string {
  return new RegExp(`${label} +(\\S+)`).exec(text)![1]!;
}

test("help tells every option and how a fault is written", async () => {
  const { status, out } = await outcome("r2", "--help");
  expect(status).toBe(0);
  for (const word of [
    "--dir",
    "--port",
    "--log",
    "--bucket",
    "--rotate",
    "--database",
    "--r2",
    "METHOD PATH",
    "every N",
  ])
    expect(out).toContain(word);
});

test("what is kept of tokens and keys is its owner's alone", async () => {
  for (const name of ["r2", "railway"]) await start(name);
  const files = (await readdir(folder, { recursive: true })).filter((file) => /\.db(-wal|-shm)?$/.test(file));
  expect(files.length).toBeGreaterThan(1);
  for (const file of files) expect([file, (await stat(join(folder, file))).mode & 0o077]).toEqual([file, 0]);
});

test.each([
  [[], "one of r2, issuer, lakekeeper, openfga, railway. See --help"],
  [["s3"], 'no stand-in "s3": it is one of r2, issuer, lakekeeper, openfga, railway'],
  [["r2", "--prot", "1"], "Unknown option '--prot'. See --help"],
  [["r2", "extra"], "Unexpected argument 'extra'"],
  [["issuer", "--port", "high"], '--port is "high": it is a number up to 65535'],
  [["r2", "--fault", "PUT /x, rest"], 'wrong at "rest"'],
  [["r2", "--bucket", "Capital"], "It has 3 to 63 of a-z"],
  [["r2", "--log", "/nowhere/requests.log"], "Cannot write the request log /nowhere/requests.log"],
  [["r2", "--jurisdiction", "mars"], '--jurisdiction is "mars": it is one of eu, fedramp'],
  [["lakekeeper", "--issuer", "nowhere"], '--issuer is "nowhere": it is the URL'],
])("%j is refused with the remedy", async (args, expected) => {
  const options = args.length > 1 ? ["--dir", join(folder, "unused")] : [];
  const { status, complaint } = await outcome(...args, ...options);
  expect([status, complaint]).toEqual([1, expect.stringContaining(expected)]);
  expect(complaint).not.toContain("    at ");
});

test("a taken port is named, with the remedy", async () => {
  const blocker = createServer().listen(0, "127.0.0.1");
  await once(blocker, "listening");
  const { port } = blocker.address() as { port: number };
  const { complaint } = await outcome("issuer", "--dir", folder, "--port", String(port));
  blocker.close();
  expect(complaint).toContain(`Port ${port} on 127.0.0.1 is taken. Choose another with --port`);
});

test("an R2 account comes with credentials that work, and is the same when started again", async () => {
  const log = join(folder, "requests.log");
  const first = await start("r2", "--log", log, "--fault", "GET /lakehouse/*, status 503, first 1");
  const keys: Keys = {
    accessKeyId: printed(first.text, "API token id"),
    secretAccessKey: printed(first.text, "S3 secret"),
  };
  const object = "/lakehouse/object";
  const put = await signer(keys).fetch(first.url + object, { method: "PUT", body: "kept" });
  const spoiled = await signer(keys).fetch(first.url + object);
  expect([put.status, spoiled.status]).toEqual([200, 503]);
  await stop(first.child);
  const entries = (await readFile(log, "utf8")).trim().split("\n");
  expect(entries.map((entry) => (JSON.parse(entry) as { status: number }).status)).toEqual([200, 503]);

  const second = await start("r2", "--jurisdiction", "eu");
  const european = await signer(keys).fetch(printed(second.text, "S3 endpoint, eu") + object);
  expect(european.status).toBe(404);
  expect(await (await signer(keys).fetch(second.url + object)).text()).toBe("kept");
  const bearer = { authorization: `Bearer ${printed(second.text, "API token value")}` };
  const accountId = printed(second.text, "account id");
  const verified = await fetch(`${second.url}/client/v4/accounts/${accountId}/tokens/verify`, { headers: bearer });
  expect(verified.status).toBe(200);
  expect((await stat(join(folder, "r2", "account.json"))).mode & 0o777).toBe(0o600);
});

test("an issuer comes with a token, and publishes earlier keys after a rotation", async () => {
  const token = (text: string): string => /^ +(ey\S+)$/m.exec(text)![1]!;
  const verify = async (jwt: string, url: string) =>
    jwtVerify(jwt, createRemoteJWKSet(new URL(`${url}/jwks.json`)), { audience: "lakekeeper" });

  const first = await start("issuer", "--subject", "karma");
  const { payload } = await verify(token(first.text), first.url);
  expect([payload.sub, payload.iss]).toEqual(["karma", first.url]);
  await stop(first.child);

  const second = await start("issuer", "--rotate");
  const { protectedHeader: rotated } = await verify(token(second.text), second.url);
  const { protectedHeader: earlier } = await verify(token(first.text), second.url);
  expect(rotated.kid).not.toBe(earlier.kid);
  const published = await readdir(join(folder, "issuer", "published"), { recursive: true });
  expect(published.sort()).toEqual([".well-known", ".well-known/openid-configuration", "jwks.json"]);
  expect((await stat(join(folder, "issuer", "signing-key.json"))).mode & 0o777).toBe(0o600);
});

test("a catalog brings its own Postgres, takes the issuer's token, and keeps what it has", async () => {
  const issuer = await start("issuer");
  const authorization = `Bearer ${/^ +(ey\S+)$/m.exec(issuer.text)![1]!}`;
  const serverId = async (url: string): Promise<string> => {
    const answer = await fetch(`${url}/management/v1/info`, { headers: { authorization } });
    return ((await answer.json()) as { "server-id": string })["server-id"];
  };
  const first = await start("lakekeeper", "--issuer", issuer.url);
  expect((await fetch(`${first.url}/management/v1/info`)).status).toBe(401);
  const bootstrap = await fetch(`${first.url}/management/v1/bootstrap`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json" },
    body: JSON.stringify({ "accept-terms-of-use": true }),
  });
  expect(bootstrap.status).toBe(204);
  const id = await serverId(first.url);
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  await stop(first.child);
  const log = join(folder, "requests.log");
  const faulty = ["--log", log, "--fault", "GET /management/v1/user, status 503"];
  const second = await start("lakekeeper", "--issuer", issuer.url, ...faulty);
  expect(await serverId(second.url)).toBe(id);
  expect((await fetch(`${second.url}/management/v1/user`, { headers: { authorization } })).status).toBe(503);
  await stop(second.child);
  const entries = (await readFile(log, "utf8")).trim().split("\n");
  expect(entries.map((entry) => (JSON.parse(entry) as { status: number }).status)).toEqual([200, 503]);
}, 600_000);
