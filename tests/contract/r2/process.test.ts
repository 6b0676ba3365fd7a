import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { accountId, bucket, parentKeys, signer, token } from "./support.ts";

const main = "emulators/r2/main.ts";
const MiB = 1024 * 1024;

let directory: string;
let running: ChildProcessByStdio<null, Readable, Readable>[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "r2-emulator-"));
});
afterEach(async () => {
  for (const child of running) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  running = [];
  await rm(directory, { recursive: true });
});

function run(args: string[], environment: Record<string, string>) {
  const child = spawn("node", ["--disable-warning=ExperimentalWarning", main, ...args], {
    env: { PATH: process.env["PATH"], ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.push(child);
  return child;
}

async function serve(more: Record<string, string> = {}) {
  const child = run(["serve"], {
    R2_EMULATOR_DIR: join(directory, "data"),
    R2_EMULATOR_ACCOUNT_ID: accountId,
    R2_EMULATOR_TOKEN_ID: token.id,
    R2_EMULATOR_TOKEN_VALUE: token.value,
    R2_EMULATOR_BUCKETS: bucket,
    R2_EMULATOR_LOG: join(directory, "requests.log"),
    ...more,
  });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const { ready, port } = JSON.parse(line.toString()) as { ready: boolean; port: number };
  expect(ready).toBe(true);
  return { child, url: `http://127.0.0.1:${port}` };
}

async function output(child: ReturnType<typeof run>): Promise<{ status: number | null; text: string }> {
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (text += chunk.toString()));
  await once(child, "close");
  return { status: child.exitCode, text };
}

/** The files that hold bytes of objects. */
async function blobs(): Promise<string[]> {
  const entries = await readdir(join(directory, "data", "blobs"), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

/** Begins an upload of `size` bytes and sends the first of them. */
async function beginUpload(url: string, size: number): Promise<void> {
  const { headers } = await signer().sign(url, { method: "PUT" });
  const upload = request(url, { method: "PUT", headers: { ...Object.fromEntries(headers), "content-length": size } });
  upload.on("error", () => undefined);
  upload.write(Buffer.alloc(MiB));
}

test("help names every setting", async () => {
  const { status, text } = await output(run(["--help"], {}));
  expect(status).toBe(0);
  for (const name of ["DIR", "ACCOUNT_ID", "TOKEN_ID", "TOKEN_VALUE", "BUCKETS", "PORT", "LOG", "FAULT"]) {
    expect(text).toContain(`R2_EMULATOR_${name}`);
  }
});

test("a missing or wrong setting is named, and no secret is", async () => {
  const missing = await output(run(["serve"], {}));
  expect([missing.status, missing.text]).toEqual([2, expect.stringContaining("R2_EMULATOR_DIR")]);
  const wrong = await output(
    run(["serve"], {
      R2_EMULATOR_DIR: directory,
      R2_EMULATOR_ACCOUNT_ID: accountId,
      R2_EMULATOR_TOKEN_ID: "short",
      R2_EMULATOR_TOKEN_VALUE: token.value,
    }),
  );
  expect(wrong.status).toBe(1);
  expect(wrong.text).toContain('"short"');
  expect(wrong.text).not.toContain("    at ");
  expect(wrong.text).not.toContain(token.value);
});

test("it is healthy, logs requests without secrets, and stops when told to", async () => {
  const { child, url } = await serve();
  expect((await fetch(`${url}/-/health`)).status).toBe(200);
  const presigned = new URL(`${url}/${bucket}/absent`);
  await fetch((await signer().sign(presigned, { aws: { signQuery: true } })).url);
  const body = JSON.stringify({ bucket, parentAccessKeyId: token.id, permission: "object-read-only", ttlSeconds: 60 });
  const mint = `${url}/client/v4/accounts/${accountId}/r2/temp-access-credentials`;
  await fetch(mint, { method: "POST", headers: { authorization: `Bearer ${token.value}` }, body });
  child.kill("SIGTERM");
  await once(child, "exit");
  expect(child.exitCode).toBe(0);

  const log = await readFile(join(directory, "requests.log"), "utf8");
  const entries = log
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(entries).toMatchObject([
    { path: "/-/health", status: 200 },
    {
      operation: "GetObject",
      path: `/${bucket}/absent`,
      query: "",
      accessKeyId: token.id,
      status: 404,
      error: "NoSuchKey",
    },
    { operation: "CreateTemporaryCredentials", status: 200 },
  ]);
  expect(log).not.toContain(token.value);
  expect(log).not.toContain(parentKeys.secretAccessKey);
  expect(log).not.toContain("Signature");
});

test("it misbehaves as its environment says", async () => {
  const { url } = await serve({
    R2_EMULATOR_FAULT: "GET /-/health, status 503, first 1\nGET /-/health, reset, first 1",
  });
  expect((await fetch(`${url}/-/health`)).status).toBe(503);
  await expect(fetch(`${url}/-/health`)).rejects.toThrow("fetch failed");
  expect((await fetch(`${url}/-/health`)).status).toBe(200);
});

test("a taken port is named", async () => {
  const { url } = await serve();
  const { port } = new URL(url);
  const second = await output(
    run(["serve"], {
      R2_EMULATOR_DIR: join(directory, "second"),
      R2_EMULATOR_ACCOUNT_ID: accountId,
      R2_EMULATOR_TOKEN_ID: token.id,
      R2_EMULATOR_TOKEN_VALUE: token.value,
      R2_EMULATOR_PORT: port,
    }),
  );
  expect([second.status, second.text]).toEqual([1, expect.stringContaining(`127.0.0.1:${port}`)]);
});

test("killed in the middle of uploads it keeps what it had and shows no half object", async () => {
  const first = await serve();
  const object = `/${bucket}/object`;
  await signer().fetch(first.url + object, { method: "PUT", body: "whole" });
  const [whole] = await blobs();
  await beginUpload(first.url + object, 10 * MiB);
  while ((await blobs()).length < 2) await new Promise(setImmediate);
  first.child.kill("SIGKILL");
  await once(first.child, "exit");

  const second = await serve();
  expect(await (await signer().fetch(second.url + object)).text()).toBe("whole");
  expect(await blobs()).toEqual([whole]);
});

test("it holds no bodies in memory", async () => {
  const { child, url } = await serve();
  const size = 300 * MiB;
  const { headers } = await signer().sign(`${url}/${bucket}/huge`, { method: "PUT" });
  const upload = request(`${url}/${bucket}/huge`, {
    method: "PUT",
    headers: { ...Object.fromEntries(headers), "content-length": size },
  });
  const answered = once(upload, "response");
  for (let sent = 0; sent < size; sent += MiB) {
    if (!upload.write(Buffer.alloc(MiB))) await once(upload, "drain");
  }
  upload.end();
  await answered;
  let received = 0;
  const download = await signer().fetch(`${url}/${bucket}/huge`);
  for await (const chunk of download.body as AsyncIterable<Uint8Array>) received += chunk.length;
  expect(received).toBe(size);
  // The peak of what was resident since the process began: without streaming it would be above the object's size.
  const peak = Number(/VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${child.pid}/status`, "utf8"))![1]) * 1024;
  expect(peak).toBeLessThan(200 * MiB);
});
