import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "openfga-"));
});
afterAll(() => rm(directory, { recursive: true }));

interface Reply {
  status: number;
  body: Record<string, unknown>;
}

async function call(method: string, url: string, key: string, body?: object): Promise<Reply> {
  const answer = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

/** `node emulators/<...>` until it says that it is ready; `ends` tells it to, and waits. */
async function start(args: string[], ready: string, environment = {}) {
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env["PATH"], ...environment },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  for await (const chunk of child.stdout) {
    text += String(chunk);
    if (text.includes(ready)) break;
  }
  return {
    text,
    async end(signal: "SIGINT" | "SIGKILL") {
      child.kill(signal);
      await once(child, "exit");
    },
  };
}

test("as a person starts it, it prints a key, logs requests, and is the same when started again", async () => {
  const folder = join(directory, "person");
  const log = join(directory, "requests.log");
  const begin = async () => {
    const args = ["emulators/main.ts", "openfga", "--dir", folder, "--port", "0", "--log", log];
    const running = await start(args, "Ctrl-C stops it");
    const url = /on (http:\S+),/.exec(running.text)![1]!;
    return { ...running, url, key: /preshared key +(\S+)/.exec(running.text)![1]! };
  };
  const first = await begin();
  const { body } = await call("POST", `${first.url}/stores`, first.key, { name: "kept" });
  await first.end("SIGINT");
  const second = await begin();
  expect(second.key).toBe(first.key);
  expect((await call("GET", `${second.url}/stores`, second.key)).body["stores"]).toEqual([body]);
  expect((await call("GET", `${second.url}/stores/x`, second.key)).status).toBe(400);
  await second.end("SIGINT");
  const text = await readFile(log, "utf8");
  const entries = text.trim().split("\n");
  expect(
    entries.map((line) => {
      const { status, error } = JSON.parse(line) as { status: number; error?: string };
      return [status, error];
    }),
  ).toEqual([
    [201, undefined],
    [200, undefined],
    [400, "validation_error"],
  ]);
  expect(text).not.toContain(first.key);
  for (const file of ["key.json", "openfga.db"]) expect((await stat(join(folder, file))).mode & 0o077).toBe(0);
});

test("as a child process, it keeps what it has answered even when it is killed", async () => {
  const environment = { OPENFGA_STANDIN_DIR: join(directory, "child"), OPENFGA_AUTHN_PRESHARED_KEYS: "one,two" };
  const begin = async () => {
    const running = await start(["emulators/openfga/main.ts", "serve"], '"ready":true', environment);
    const { port } = JSON.parse(running.text) as { port: number };
    return { ...running, url: `http://127.0.0.1:${port}` };
  };
  const model = {
    schema_version: "1.1",
    type_definitions: [
      { type: "user" },
      {
        type: "document",
        relations: { editor: { this: {} } },
        metadata: { relations: { editor: { directly_related_user_types: [{ type: "user" }] } } },
      },
    ],
  };
  const tuple_key = { object: "document:1", relation: "editor", user: "user:a" };
  const first = await begin();
  const { id } = (await call("POST", `${first.url}/stores`, "one", { name: "child" })).body as { id: string };
  await call("POST", `${first.url}/stores/${id}/authorization-models`, "one", model);
  await call("POST", `${first.url}/stores/${id}/write`, "one", { writes: { tuple_keys: [tuple_key] } });
  await first.end("SIGKILL");
  const second = await begin();
  const { body } = await call("POST", `${second.url}/stores/${id}/check`, "two", { tuple_key });
  expect(body["allowed"]).toBe(true);
  await second.end("SIGINT");
});
