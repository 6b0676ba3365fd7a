import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "../../../platforms/local/ports.ts";
import { keyOf, type Lakehouse, startLakehouse } from "./lakehouse.ts";
import type { Session, Snapshot } from "./session.ts";
import { expectWholeAppends, schema, type Work, write, type Written } from "./writers.ts";

// The catalog's process is killed and started again while clients write: a server of its own beside the lakehouse's.

const work: Work = { table: "main.default.interrupted", writers: 3, appends: 5, rows: 5 };
const { table } = work;

let lakehouse: Lakehouse;
let client: Session;
let server: ChildProcess;
let url: string;

beforeAll(async () => {
  lakehouse = await startLakehouse();
  client = await lakehouse.client();
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  await startServer();
}, 600_000);
afterAll(async () => {
  await killServer();
  await lakehouse.close();
});

async function startServer(): Promise<void> {
  const settings = { LAKEKEEPER__LISTEN_PORT: new URL(url).port, LAKEKEEPER__BIND_IP: "127.0.0.1", RUST_LOG: "off" };
  const program = [join(process.cwd(), "emulators/lakekeeper/main.ts"), "serve"];
  const env = { ...process.env, ...lakehouse.settings, ...settings };
  server = spawn(process.execPath, program, { env, stdio: "ignore" });
  while (!(await fetch(`${url}/health`).catch(() => undefined))?.ok) {
    if (server.exitCode !== null) throw new Error(`the server ended with ${server.exitCode}`);
    await delay(20);
  }
}

async function killServer(): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, "exit");
  server.kill("SIGKILL");
  await ended;
}

const snapshots = (): Promise<Snapshot[]> => client.do("history", { table });

test("a server that is killed again and again: no append is lost or there twice", async () => {
  await client.do("create", { table, schema, properties: { "commit.retry.min-wait-ms": "20" } });
  let writing = true;
  const env = { ...(await lakehouse.environment("1")), LAKEHOUSE_REST_URI: `${url}/catalog` };
  const written = write(work, env).finally(() => (writing = false));
  let kills = 0;
  for (let committed = 0; writing && kills < 4;) {
    // In the middle of the work, which is when something new has just been committed.
    const now = (await snapshots()).length;
    if (now > committed) {
      await killServer();
      kills++;
      await startServer();
    }
    committed = now;
  }
  const { interruptions } = await written;
  expect(kills).toBeGreaterThan(1);
  expect(interruptions).toBeGreaterThan(0);

  const rows = await client.do<Written[]>("rows", { table });
  expect(rows).toHaveLength(work.writers * work.appends * work.rows);
  expectWholeAppends(rows, work.rows);

  const history = await snapshots();
  const marks = history.map(({ summary }) => summary["mark"]);
  expect(new Set(marks).size).toBe(work.writers * work.appends);
  expect(marks).toHaveLength(work.writers * work.appends);
  const files = await lakehouse.files((await client.do<{ location: string }>("metadata", { table })).location);
  for (const { manifestList } of history) expect(files).toContain(keyOf(manifestList));
}, 600_000);

test("a client that was there before the restart goes on", async () => {
  const env = { LAKEHOUSE_REST_URI: `${url}/catalog` };
  const before = await lakehouse.client("1", undefined, env);
  const rows = [{ writer: 9, append: 0, row: 0 }];
  await before.do("append", { table, rows });
  await killServer();
  await expect(before.do("append", { table, rows })).rejects.toThrow("ConnectionError");
  await startServer();
  await before.do("append", { table, rows: [{ writer: 9, append: 1, row: 0 }] });
  expect(await client.do("rows", { table, where: "writer = 9" })).toHaveLength(2);
});
