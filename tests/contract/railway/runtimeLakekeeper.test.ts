import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { request } from "undici";
import { localRuntime } from "../../../emulators/railway/runtime/index.ts";
import { startTestPostgres, type TestPostgres } from "../../support/postgres.ts";
import { randomPassword } from "../../support/scratch.ts";
import { makeRuntime, type RuntimeFixture, type Started } from "./runtime.fixture.ts";

const IMAGE = "quay.io/lakekeeper/catalog:v0.13.3";
const MIGRATE = "/home/nonroot/lakekeeper migrate";
const SERVE = "/home/nonroot/lakekeeper serve";

let fixture: RuntimeFixture;
let server: TestPostgres;
let databases = 0;

beforeAll(async () => {
  server = await startTestPostgres();
});

afterAll(() => server.stop());

beforeEach(async () => {
  fixture = await makeRuntime();
});

afterEach(() => fixture.remove());

/** The variables of a Lakekeeper on an empty database, which it knows by a private name. */
async function onNewDatabase(): Promise<Record<string, string>> {
  const url = new URL(await server.createDatabase(`catalog${++databases}`));
  url.hostname = "postgres.railway.internal";
  return {
    LAKEKEEPER__PG_DATABASE_URL_WRITE: url.href,
    LAKEKEEPER__PG_DATABASE_URL_READ: url.href,
    LAKEKEEPER__PG_ENCRYPTION_KEY: randomPassword(),
    LAKEKEEPER__BIND_IP: "::",
    PORT: "8181",
  };
}

function lakekeeper(startCommand: string | undefined, environment: Record<string, string>): Promise<Started> {
  const hosts = { postgres: "127.0.0.1" };
  return fixture.start(
    fixture.spec(IMAGE, { environment, hosts, ...(startCommand !== undefined && { startCommand }) }),
  );
}

async function untilHealthy({ container, lines }: Started): Promise<void> {
  let isOver = false;
  void container.finished.then(() => (isOver = true));
  while ((await container.probe("/health", 8181)) !== 200) {
    if (isOver) throw new Error(`ended, and said:\n${lines.join("\n")}`);
    await delay(20);
  }
}

test("migrate ends with 0, and serve then answers at port 8181 of its address alone", async () => {
  const environment = await onNewDatabase();
  const migrate = await lakekeeper(MIGRATE, environment);
  await expect(migrate.container.finished).resolves.toEqual({ exitCode: 0 });
  expect(migrate.lines.join("\n")).toContain("Database migration complete");

  const serve = await lakekeeper(SERVE, environment);
  await untilHealthy(serve);
  const { body } = await request(`http://${serve.spec.address}:8181/management/v1/info`);
  expect(await body.json()).toMatchObject({ version: "0.13.3", bootstrapped: false });
  await expect(request("http://127.0.0.2:8181/health")).rejects.toThrow("ECONNREFUSED");
  await serve.container.stop(30);
  await expect(serve.container.finished).resolves.toEqual({ exitCode: 0 });
});

test("two services on one database each have their own 8181, also without a setting of where to listen", async () => {
  const environment = await onNewDatabase();
  delete environment["LAKEKEEPER__BIND_IP"];
  await (
    await lakekeeper(MIGRATE, environment)
  ).container.finished;
  const [one, two] = await Promise.all([lakekeeper(SERVE, environment), lakekeeper(SERVE, environment)]);
  await Promise.all([untilHealthy(one), untilHealthy(two)]);

  expect(one.spec.address).not.toBe(two.spec.address);
});

test("serve without a migrated database ends, and its log says why", async () => {
  const { container, lines } = await lakekeeper(SERVE, await onNewDatabase());

  expect((await container.finished).exitCode).toBe(1);
  expect(lines.join("\n")).toContain('Error: relation "server" does not exist');
});

test("without a subcommand it ends, and its log says why", async () => {
  const { container, lines } = await lakekeeper(undefined, await onNewDatabase());

  expect((await container.finished).exitCode).toBe(1);
  expect(lines.join("\n")).toContain("No subcommand provided");
});

test("the image holds nothing but its one executable", async () => {
  const { container, lines } = await lakekeeper("migrate", await onNewDatabase());

  await expect(container.finished).resolves.toEqual({ exitCode: 127 });
  expect(lines).toEqual(["The executable `migrate` could not be found."]);
});

test("the operator's own binary runs, and gets the variables as they are", async () => {
  const binary = join(fixture.directory, "..", "lakekeeper");
  const script =
    '#!/bin/sh\n[ "$1" = version ] && echo 0.14.0 && exit\necho "$1 $LAKEKEEPER__X $LAKEKEEPER__BIND_IP"\nexit 9\n';
  await writeFile(binary, script, { mode: 0o755 });
  const runtime = localRuntime({ directory: fixture.directory, lakekeeper: { binary, download: false } });
  const lines: string[] = [];
  const spec = (tag: string) =>
    fixture.spec(`quay.io/lakekeeper/catalog:${tag}`, {
      startCommand: SERVE,
      environment: { LAKEKEEPER__X: "a $HOME 'b'\nc" },
    });
  const first = spec("v0.14.0");
  const container = await runtime.start(first, (line) => lines.push(line));

  await expect(container.finished).resolves.toEqual({ exitCode: 9 });
  expect(lines).toEqual(["serve a $HOME 'b'", `c ${first.address}`]);

  const older = await runtime.start(spec("v0.13.1"), (line) => lines.push(line));
  await older.finished;
  expect(lines[2]).toBe("Here runs Lakekeeper 0.14.0 (binary) in the place of v0.13.1");
  await expect(runtime.start(spec("v0.14.1"), () => {})).rejects.toThrow("manifest unknown (no tag v0.14.1)");
  await runtime.close();
});
