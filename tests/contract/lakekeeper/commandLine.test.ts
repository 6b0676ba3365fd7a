import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { startTestPostgres, type TestPostgres } from "../../support/postgres.ts";
import { freePort } from "../../../platforms/local/ports.ts";

const node = process.execPath;
const main = "emulators/lakekeeper/main.ts";

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startTestPostgres();
});
afterAll(() => postgres.stop());

function launch(args: string[], settings: Record<string, string>): ReturnType<typeof spawn> {
  return spawn(node, [main, ...args], {
    env: { PATH: process.env["PATH"], ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(args: string[], settings: Record<string, string> = {}): Promise<Ended> {
  const child = launch(args, settings);
  let [stdout, stderr] = ["", ""];
  child.stdout!.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr!.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout, stderr };
}

async function settingsFor(name: string): Promise<Record<string, string>> {
  return {
    LAKEKEEPER__PG_DATABASE_URL_WRITE: await postgres.createDatabase(name),
    LAKEKEEPER__PG_ENCRYPTION_KEY: "not only digits",
    LAKEKEEPER__BIND_IP: "127.0.0.1",
    LAKEKEEPER__LISTEN_PORT: String(await freePort()),
  };
}

const unreachable = {
  LAKEKEEPER__PG_DATABASE_URL_WRITE: "postgresql://x:y@127.0.0.1:1/z",
  LAKEKEEPER__PG_ACQUIRE_TIMEOUT: "1",
};

async function isOpen(port: string): Promise<boolean> {
  const probe = createServer();
  return new Promise((resolve) => {
    probe.once("error", () => resolve(true));
    probe.listen(Number(port), "127.0.0.1", () => probe.close(() => resolve(false)));
  });
}

describe("the command line", () => {
  it("prints the version and nothing else", async () => {
    expect(await run(["version"])).toEqual({ code: 0, stdout: "0.13.3\n", stderr: "" });
  });

  it("ends with 2 for a command or flag that does not exist, and with 1 without a command", async () => {
    expect((await run(["serv"])).code).toBe(2);
    expect((await run(["serve", "--force-start=false"])).code).toBe(2);
    expect((await run([], unreachable)).code).toBe(1);
  });

  it("refuses to serve or to report a database that was not migrated", async () => {
    const settings = await settingsFor("unmigrated");
    const served = await run(["serve"], settings);
    expect(served.code).toBe(1);
    expect(served.stderr).toContain('relation "server" does not exist');
    const waited = await run(["wait-for-db", "-dm", "-r", "1", "-b", "0"], settings);
    expect(waited.code).toBe(1);
    expect(waited.stderr).toContain("make sure to run the migrate command");
    expect((await run(["wait-for-db", "-d"], settings)).code).toBe(0);
  });

  it("migrates any number of times, also twice at once", async () => {
    const settings = await settingsFor("migrated");
    const both = await Promise.all([run(["migrate"], settings), run(["migrate"], settings)]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    expect((await run(["migrate"], settings)).code).toBe(0);
    expect((await run(["wait-for-db", "-dm"], settings)).code).toBe(0);
    const bootstrapped = await run(["reopen-bootstrap"], settings);
    expect(bootstrapped.code).toBe(1);
    expect(bootstrapped.stderr).toContain("Re-run with --yes");
    expect((await run(["reopen-bootstrap", "--yes"], settings)).code).toBe(0);
  });

  it("gives up on a database it cannot reach once the acquire timeout has passed", async () => {
    const started = Date.now();
    const migrated = await run(["migrate"], unreachable);
    expect(migrated.code).toBe(1);
    expect(migrated.stderr).toContain("Error creating write pool.");
    expect(migrated.stderr).toContain("pool timed out while waiting for an open connection");
    expect(Date.now() - started).toBeGreaterThanOrEqual(1000);
    expect((await run(["healthcheck", "-d"], unreachable)).code).toBe(1);
  });

  it("refuses a wrong password", async () => {
    const settings = await settingsFor("password");
    const url = new URL(settings["LAKEKEEPER__PG_DATABASE_URL_WRITE"]!);
    url.password = "wrong";
    const migrated = await run(["migrate"], { ...settings, LAKEKEEPER__PG_DATABASE_URL_WRITE: url.href });
    expect(migrated.code).toBe(1);
    expect(migrated.stderr).toContain("password authentication failed");
    expect(migrated.stderr).not.toContain("wrong");
  });

  it("panics when a text setting looks like a number, and takes it in quotes", async () => {
    const settings = await settingsFor("figment");
    expect((await run(["migrate"], { ...settings, LAKEKEEPER__PG_ENCRYPTION_KEY: "12345678" })).code).toBe(101);
    expect((await run(["migrate"], { ...settings, LAKEKEEPER__PG_ENCRYPTION_KEY: '"12345678"' })).code).toBe(0);
  });

  it("does not open its port while the OpenID provider cannot be reached", async () => {
    const settings = await settingsFor("provider");
    await run(["migrate"], settings);
    const provider = `http://127.0.0.1:${await freePort()}/realm`;
    const served = await run(["serve"], { ...settings, LAKEKEEPER__OPENID_PROVIDER_URI: provider });
    expect(served.code).toBe(1);
    expect(served.stderr).toContain(
      `Failed to fetch openid configuration from ${provider}/.well-known/openid-configuration`,
    );
    expect(await isOpen(settings["LAKEKEEPER__LISTEN_PORT"]!)).toBe(false);
  });

  it("serves until SIGTERM, whatever unknown settings there are, and then ends with 0", async () => {
    const settings = { ...(await settingsFor("served")), LAKEKEEPER__NO_SUCH_SETTING: "1" };
    expect((await run(["healthcheck"], settings)).code).toBe(1);
    await run(["migrate"], settings);
    const server = launch(["serve"], settings);
    const lines: string[] = [];
    await new Promise<void>((resolve) =>
      server.stdout!.on("data", (chunk: Buffer) => {
        lines.push(...chunk.toString().trim().split("\n"));
        if (chunk.includes("Listening")) resolve();
      }),
    );
    expect(lines.map((line) => (JSON.parse(line) as { message: string }).message).join()).toContain("stand-in");
    expect((await run(["healthcheck", "-a"], settings)).code).toBe(0);
    server.kill("SIGTERM");
    expect(await once(server, "exit")).toEqual([0, null]);
  });
});
