import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import pg from "pg";
import type { ContainerSpec } from "../../../emulators/railway/runtime.ts";
import { removeVolume } from "../../../emulators/railway/runtime/index.ts";
import { run } from "../../../tools/run.ts";
import { randomPassword } from "../../support/scratch.ts";
import { makeRuntime, type RuntimeFixture, type Started } from "./runtime.fixture.ts";

const IMAGE = "ghcr.io/railwayapp-templates/postgres-ssl:18";
const MOUNT_PATH = "/var/lib/postgresql/data";

let fixture: RuntimeFixture;
const password = randomPassword();
const environment = {
  RAILWAY_VOLUME_MOUNT_PATH: MOUNT_PATH,
  PGDATA: `${MOUNT_PATH}/pgdata`,
  POSTGRES_USER: "lakekeeper",
  POSTGRES_PASSWORD: password,
  POSTGRES_DB: "catalog",
};

beforeEach(async () => {
  fixture = await makeRuntime();
});

afterEach(() => fixture.remove());

function postgres(more: Partial<ContainerSpec> = {}): ContainerSpec {
  return fixture.spec(IMAGE, { environment, volume: fixture.volume, ...more });
}

async function started(spec = postgres()): Promise<Started> {
  const server = await fixture.start(spec);
  await server.said(/database system is ready to accept connections/);
  return server;
}

async function query(
  { address }: ContainerSpec,
  text: string,
  changes: Partial<pg.ClientConfig> = {},
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({
    host: address,
    port: 5432,
    user: "lakekeeper",
    database: "catalog",
    password,
    ...changes,
  });
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

const redeployed = (spec: ContainerSpec): ContainerSpec => ({ ...spec, deploymentId: randomUUID() });

test("it listens at 5432 of its address, with the user, the password and the database of its variables", async () => {
  const { spec, container } = await started();

  expect(await query(spec, "SELECT current_user, current_database(), usesuper FROM pg_user")).toEqual([
    { current_user: "lakekeeper", current_database: "catalog", usesuper: true },
  ]);
  expect(await query(spec, "SELECT 1 AS one", { database: "postgres" })).toEqual([{ one: 1 }]);
  await expect(query(spec, "SELECT 1", { password: "another" })).rejects.toThrow("password authentication failed");
  await expect(query(spec, "SELECT 1", { host: "127.0.0.1" })).rejects.toThrow("ECONNREFUSED");
  await container.stop(30);
  await expect(container.finished).resolves.toEqual({ exitCode: 0 });
});

test("a redeploy keeps the data and its password, whatever the variables say by then", async () => {
  const { spec, container } = await started();
  await query(spec, "CREATE TABLE kept AS SELECT 42 AS answer");
  await container.stop(30);
  const later = { ...environment, POSTGRES_PASSWORD: "another", POSTGRES_DB: "another" };
  const { lines } = await started({ ...redeployed(spec), environment: later });

  expect(await query(spec, "SELECT answer FROM kept")).toEqual([{ answer: 42 }]);
  await expect(query(spec, "SELECT 1", { password: "another" })).rejects.toThrow("password authentication failed");
  expect(lines).toContain("The volume holds a database: it is used as it is");
});

test("clients that stay connected do not keep it from stopping", async () => {
  const { spec, container } = await started();
  const client = new pg.Client({ host: spec.address, port: 5432, user: "lakekeeper", database: "catalog", password });
  const ended = new Promise((resolve) => client.on("error", resolve));
  await client.connect();
  await container.stop(30);

  await expect(container.finished).resolves.toEqual({ exitCode: 0 });
  await ended;
});

test("one that was killed with clients connected starts again on its data", async () => {
  const { spec, container } = await started();
  await query(spec, "CREATE TABLE kept AS SELECT 42 AS answer");
  const clients = Array.from({ length: 5 }, () =>
    new pg.Client({ host: spec.address, port: 5432, user: "lakekeeper", database: "catalog", password }).on(
      "error",
      () => {},
    ),
  );
  await Promise.all(clients.map((client) => client.connect()));
  await container.stop(0);
  await expect(container.finished).resolves.toEqual({ exitCode: 137 });
  await started(redeployed(spec));

  expect(await query(spec, "SELECT answer FROM kept")).toEqual([{ answer: 42 }]);
});

const { RAILWAY_VOLUME_MOUNT_PATH, PGDATA, POSTGRES_PASSWORD, ...rest } = environment;

test.each<[string, Partial<ContainerSpec>, RegExp]>([
  [
    "without a volume",
    { environment: { ...rest, PGDATA, POSTGRES_PASSWORD } },
    /mounted at \/var\/lib\/postgresql\/data, not at ""/,
  ],
  [
    "with its volume elsewhere",
    { environment: { ...environment, RAILWAY_VOLUME_MOUNT_PATH: "/data" } },
    /not at "\/data"/,
  ],
  [
    "with PGDATA outside of the volume",
    { environment: { ...environment, PGDATA: "/tmp/pgdata" } },
    /PGDATA has to begin with/,
  ],
  [
    "with PGDATA beside the volume",
    { environment: { ...environment, PGDATA: `${MOUNT_PATH}base` } },
    /PGDATA has to begin with/,
  ],
  [
    "without PGDATA, which release 18 has elsewhere",
    { environment: { ...rest, RAILWAY_VOLUME_MOUNT_PATH, POSTGRES_PASSWORD } },
    /is \/var\/lib\/postgresql\/18\/docker/,
  ],
  [
    "without a password",
    { environment: { ...rest, RAILWAY_VOLUME_MOUNT_PATH, PGDATA } },
    /POSTGRES_PASSWORD is not set/,
  ],
])("%s it ends with exit code 1 and says why", async (_what, more, reason) => {
  const { container, lines } = await fixture.start(postgres(more));

  await expect(container.finished).resolves.toEqual({ exitCode: 1 });
  expect(lines).toEqual([expect.stringMatching(reason)]);
});

test("until release 17 the data is in the volume itself, and PGDATA may be left out", async () => {
  const image = "ghcr.io/railwayapp-templates/postgres-ssl:16.4";
  const { spec, lines } = await started(
    postgres({ image, environment: { ...rest, RAILWAY_VOLUME_MOUNT_PATH, POSTGRES_PASSWORD } }),
  );

  expect(await query(spec, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  expect(lines).toContainEqual(expect.stringMatching(/^Here runs Postgres \S+ in the place of 16\.4$/));
  expect(await readdir(fixture.volume.directory)).toContain("PG_VERSION");
});

test("no password is in what anybody on the machine may read of it", async () => {
  const { lines, spec } = await started();
  const commands = await run("ps", ["-A", "-ww", "-o", "args="], { cwd: "/" });

  expect(commands).toContain(spec.deploymentId);
  expect(commands).not.toContain(password);
  expect(lines.join("\n")).not.toContain(password);
});

test("a volume that is removed leaves no data", async () => {
  const { container } = await started();
  await container.stop(30);
  await removeVolume(fixture.volume.directory);

  expect(existsSync(fixture.volume.directory)).toBe(false);
});
