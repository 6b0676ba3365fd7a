import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { freePort } from "../../../platforms/local/ports.ts";
import { hasExited, startTimeOf } from "../../../platforms/local/processId.ts";
import { readRecord, recordFile } from "../../../platforms/local/records.ts";
import provider, {
  type PostgresClusterInputs,
  type PostgresClusterOutputs,
} from "../../../providers/local/postgresCluster.provider.ts";
import { makeScratch, randomPassword, type Scratch } from "../../support/scratch.ts";

let scratch: Scratch;

beforeEach(async () => {
  scratch = await makeScratch();
});

afterEach(() => scratch.remove());

async function inputs(): Promise<PostgresClusterInputs> {
  const news = {
    state: scratch.state,
    port: await freePort(),
    superuserPassword: randomPassword(),
    role: "lakekeeper",
    rolePassword: randomPassword(),
    database: "catalog",
    portRemedy: "set lakekeeper:ports",
  };
  expect((await provider.check({}, news)).failures).toEqual([]);
  return news;
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

const keep = (url: string) => query(url, "CREATE TABLE kept AS SELECT 42 AS answer");
const kept = (url: string) => query(url, "SELECT answer FROM kept");

async function killNow({ pid }: PostgresClusterOutputs): Promise<void> {
  const startTime = (await startTimeOf(pid))!;
  process.kill(pid, "SIGKILL");
  expect(await hasExited({ pid, startTime }, 5_000)).toBe(true);
}

const failureOf = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => new Error("no error"),
    (reason: Error) => reason,
  );
  return error.message;
};

test("the role owns its database and can do what Lakekeeper's migration needs, but is no superuser", async () => {
  const { outs } = await provider.create(await inputs());

  for (const extension of ["uuid-ossp", "pgcrypto", "pg_trgm", "btree_gin", "btree_gist"]) {
    await query(outs.url, `CREATE EXTENSION "${extension}"`);
  }
  expect(await query(outs.url, "SELECT rolsuper FROM pg_roles WHERE rolname = current_user")).toEqual([
    { rolsuper: false },
  ]);
  expect(await query(outs.url, "SHOW fsync")).toEqual([{ fsync: "on" }]);
});

test("is found again, and nothing is to be done", async () => {
  const news = await inputs();
  const { id, outs } = await provider.create(news);
  const { outs: again } = await provider.create(news);

  expect(again).toEqual(outs);
  expect(await provider.diff(id, outs, news)).toEqual({ changes: false });
  expect(await provider.read(id, outs)).toEqual({ id, props: outs });
});

test("one that was killed is a change and a drift; it comes back with its data", async () => {
  const news = await inputs();
  const { id, outs } = await provider.create(news);
  await keep(outs.url);
  await killNow(outs);

  expect(await provider.diff(id, outs, news)).toEqual({ changes: true });
  expect((await provider.read(id, outs)).props?.running).toBe(false);
  const { outs: repaired } = await provider.update(id, outs, news);
  expect(repaired.systemIdentifier).toBe(outs.systemIdentifier);
  expect(await kept(repaired.url)).toEqual([{ answer: 42 }]);
  expect(await provider.diff(id, repaired, news)).toEqual({ changes: false });
});

test("one that dies at this very moment is not waited for", async () => {
  const news = await inputs();
  const { id, outs } = await provider.create(news);
  process.kill(outs.pid, "SIGKILL");

  const began = Date.now();
  await provider.update(id, outs, news);
  expect(Date.now() - began).toBeLessThan(14_000);
});

test("after a reboot the pid in its lock file belongs to another process, which is left alone", async () => {
  const news = await inputs();
  const { id, outs } = await provider.create(news);
  await keep(outs.url);
  await killNow(outs);
  // Of the same user: Postgres alone would take it for another server on its data.
  const { uid, gid } = await stat(join(scratch.state, "postgres"));
  const bystander = spawn("sleep", ["60"], { cwd: "/", uid, gid });
  await once(bystander, "spawn");
  const lockFile = join(scratch.state, "postgres/postmaster.pid");
  const lines = (await readFile(lockFile, "utf8")).split("\n");
  await writeFile(lockFile, [bystander.pid, ...lines.slice(1)].join("\n"));

  const { outs: repaired } = await provider.update(id, outs, news);

  expect(await kept(repaired.url)).toEqual([{ answer: 42 }]);
  expect(await startTimeOf(bystander.pid!)).not.toBeUndefined();
  bystander.kill();
});

test("other passwords, another role and another port are applied to the data that is there", async () => {
  const news = await inputs();
  const { id, outs } = await provider.create(news);
  await keep(outs.url);

  const rotated = { ...news, rolePassword: randomPassword(), superuserPassword: randomPassword() };
  expect(await provider.diff(id, outs, rotated)).toEqual({ changes: true });
  const { outs: second } = await provider.update(id, outs, rotated);
  expect(await kept(second.url)).toEqual([{ answer: 42 }]);
  expect(await failureOf(query(outs.url, "SELECT 1"))).toContain("password authentication failed");

  const moved = { ...rotated, role: "owner", port: await freePort() };
  const { outs: third } = await provider.update(id, second, moved);
  expect(
    await query(third.url, "SELECT datdba::regrole::text AS owner FROM pg_database WHERE datname = 'catalog'"),
  ).toEqual([{ owner: "owner" }]);
  expect(await failureOf(query(second.url, "SELECT 1"))).toContain("ECONNREFUSED");
});

test("data of a stack whose state is lost is taken over", async () => {
  const news = await inputs();
  const { outs } = await provider.create(news);
  await keep(outs.url);
  await rm(recordFile(scratch.state, "postgres"));

  const { outs: again } = await provider.create({
    ...(await inputs()),
    rolePassword: randomPassword(),
    superuserPassword: randomPassword(),
  });

  expect(await kept(again.url)).toEqual([{ answer: 42 }]);
  expect(await startTimeOf(outs.pid)).toBeUndefined();
});

test("a checkout that the user who runs Postgres cannot reach has its data elsewhere", async () => {
  const news = await inputs();
  await chmod(scratch.state, 0o700);

  const { id, outs } = await provider.create(news);
  await keep(outs.url);
  const folder = await realpath(join(scratch.state, "postgres"));
  // Root alone runs Postgres as somebody else.
  expect(folder.startsWith(scratch.state)).toBe(process.getuid?.() !== 0);
  await killNow(outs);
  const { outs: repaired } = await provider.update(id, outs, news);
  expect(await kept(repaired.url)).toEqual([{ answer: 42 }]);

  await provider.delete(id, repaired);
  await expect(stat(folder)).rejects.toThrow("ENOENT");
});

test("an initdb that was cut short is done again", async () => {
  const news = await inputs();
  await mkdir(join(scratch.state, "postgres.partial"));
  await writeFile(join(scratch.state, "postgres.partial/PG_VERSION"), "18\n");

  expect((await provider.create(news)).outs.running).toBe(true);
});

test("a data folder that is gone is noticed; the new one has another identity", async () => {
  const news = await inputs();
  const { id, outs } = await provider.create(news);
  await rename(join(scratch.state, "postgres"), join(scratch.state, "taken-away"));

  expect(await provider.diff(id, outs, news)).toEqual({ changes: true });
  const { outs: anew } = await provider.update(id, outs, news);
  expect(anew.systemIdentifier).not.toBe(outs.systemIdentifier);
  expect(await startTimeOf(outs.pid)).toBeUndefined();
});

test("a taken port is named with its holder, and the next run goes on from there", async () => {
  const news = await inputs();
  const holder = createServer().listen(news.port, "127.0.0.1").unref();
  await once(holder, "listening");

  const failure = (await provider.create(news).catch((error: unknown) => error)) as {
    id: string;
    message: string;
    properties: PostgresClusterOutputs;
  };
  expect(failure.message).toContain(`Port ${news.port} `);
  expect(failure.message).toContain(`process ${process.pid}`);
  expect(failure.message).toContain("set lakekeeper:ports");

  await new Promise((closed) => holder.close(closed));
  expect(await provider.diff(failure.id, failure.properties, news)).toEqual({ changes: true });
  const { outs } = await provider.update(failure.id, failure.properties, news);
  expect(outs.running).toBe(true);
});

test("no password is in the record, the log or any command line", async () => {
  const news = await inputs();
  const { outs } = await provider.create(news);
  await failureOf(query(outs.url, "ALTER ROLE nobody_here PASSWORD 'pw-in-a-failing-statement'"));

  const { stdout: commands } = await promisify(execFile)("ps", ["-eo", "args"]);
  const record = await readFile(recordFile(scratch.state, "postgres"), "utf8");
  const log = await readFile(join(scratch.state, "logs/postgres.log"), "utf8");
  for (const text of [commands, record, log]) {
    expect(text).not.toContain(news.superuserPassword);
    expect(text).not.toContain(news.rolePassword);
    expect(text).not.toContain("pw-in-a-failing-statement");
  }
});

test("delete stops it and removes its data; again is as good as once", async () => {
  const { id, outs } = await provider.create(await inputs());

  await provider.delete(id, outs);
  await provider.delete(id, outs);

  expect(await startTimeOf(outs.pid)).toBeUndefined();
  expect(await readRecord(scratch.state, "postgres")).toBeUndefined();
  await expect(stat(join(scratch.state, "postgres"))).rejects.toThrow("ENOENT");
});

test("wrong inputs are told all at once, without the passwords", async () => {
  const { failures } = await provider.check(
    {},
    { ...(await inputs()), rolePassword: "postgres", role: "postgres", database: "My DB" },
  );

  expect(failures.map(({ reason }) => reason).sort()).toEqual([
    'database must be a Postgres name of a-z, 0-9 and _, not "My DB"',
    "role must not be the superuser",
    "rolePassword must be 16 characters or more",
  ]);
});
