import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { UserError } from "../../../clients/errors.ts";
import { freePort, isPortFree } from "../../../platforms/local/ports.ts";
import { commandOf, hasExited, startTimeOf } from "../../../platforms/local/processId.ts";
import { stopAll } from "../../../platforms/local/processes.ts";
import { readRecord, recordFile, writeRecord } from "../../../platforms/local/records.ts";
import provider, { type ProcessInputs, type ProcessOutputs } from "../../../providers/local/process.provider.ts";
import { makeScratch, randomPassword, type Scratch } from "../../support/scratch.ts";

let scratch: Scratch;
let secret: string;

beforeEach(async () => {
  scratch = await makeScratch();
  secret = randomPassword();
});

afterEach(() => scratch.remove());

async function inputs(environment: Record<string, string> = {}): Promise<ProcessInputs> {
  const port = await freePort();
  const news = {
    state: scratch.state,
    name: "service",
    command: ["node", "tests/support/testService.ts"],
    environment: { PORT: String(port), SECRET_VALUE: secret, ...environment },
    port,
    healthPath: "/-/health",
    startTimeoutSeconds: 10,
    code: ["platforms/local/lock.ts"],
    portRemedy: "set lakekeeper:ports",
  };
  const { inputs, failures } = await provider.check({}, news);
  expect(failures).toEqual([]);
  return inputs;
}

const environmentOf = async ({ url }: ProcessOutputs) =>
  (await (await fetch(`${url}/-/environment`)).json()) as Record<string, string>;

const messageOf = (work: Promise<unknown>) =>
  work.then(
    () => "no error",
    (error: unknown) => (error instanceof UserError ? error.message : `not for people: ${String(error)}`),
  );

async function killNow({ pid, startTime }: ProcessOutputs): Promise<void> {
  process.kill(pid, "SIGKILL");
  expect(await hasExited({ pid, startTime }, 5_000)).toBe(true);
}

test("is started with nothing of this environment but what it needs", async () => {
  process.env["AWS_SECRET_ACCESS_KEY"] = "operator's own";
  const { outs } = await provider.create(await inputs());
  delete process.env["AWS_SECRET_ACCESS_KEY"];

  const seen = Object.keys(await environmentOf(outs)).sort();
  expect(
    seen.filter(
      (name) => !["HOME", "NODE_COMPILE_CACHE", "PATH", "PORT", "SECRET_VALUE", "TMPDIR", "TZ"].includes(name),
    ),
  ).toEqual([]);
  expect(seen).toContain("PORT");
});

test("is found again, and nothing is to be done", async () => {
  const news = await inputs();
  const first = await provider.create(news);
  const second = await provider.create(news);

  expect(second.outs.pid).toBe(first.outs.pid);
  expect(await provider.diff(first.id, first.outs, news)).toEqual({ changes: false });
  expect(await provider.read(first.id, first.outs)).toEqual({ id: first.id, props: first.outs });
});

test("two starts at once make one process", async () => {
  const news = await inputs();
  const [one, other] = await Promise.all([provider.create(news), provider.create(news)]);

  expect(one.outs.pid).toBe(other.outs.pid);
});

test("one that was killed is a change, a drift, and is started again", async () => {
  const news = await inputs();
  const { id, outs } = await provider.create(news);
  await killNow(outs);

  expect(await provider.diff(id, outs, news)).toEqual({ changes: true });
  const { props } = await provider.read(id, outs);
  expect(props?.running).toBe(false);
  const { outs: repaired } = await provider.update(id, outs, news);
  expect(repaired.pid).not.toBe(outs.pid);
  expect(await provider.diff(id, repaired, news)).toEqual({ changes: false });
});

test("one that hangs is replaced", async () => {
  const news = { ...(await inputs()), startTimeoutSeconds: 2 };
  const { id, outs } = await provider.create(news);
  process.kill(outs.pid, "SIGSTOP");

  expect(await provider.diff(id, outs, news)).toEqual({ changes: true });
  const { outs: repaired } = await provider.update(id, outs, news);
  expect(repaired.pid).not.toBe(outs.pid);
  expect(await startTimeOf(outs.pid)).toBeUndefined();
});

test("another environment or other code starts it again, on the same port", async () => {
  const news = await inputs();
  const { id, outs } = await provider.create(news);
  const other = { ...news, environment: { ...news.environment, GREETING: "good evening" } };

  expect(await provider.diff(id, outs, other)).toEqual({ changes: true });
  const { outs: changed } = await provider.update(id, outs, other);
  expect(await (await fetch(changed.url)).text()).toBe("good evening");

  const { inputs: newCode } = await provider.check(other, { ...other, code: ["platforms/local/ports.ts"] });
  expect(await provider.diff(id, changed, newCode)).toEqual({ changes: true });
  const { outs: restarted } = await provider.update(id, changed, newCode);
  expect(restarted.pid).not.toBe(changed.pid);
});

test("one that ends at once: how, where its log is and what it says, without the secret", async () => {
  const news = await inputs({ MODE: "exit" });

  const message = await messageOf(provider.create(news));

  expect(message).toContain("service ended with exit code 3");
  expect(message).toContain(join(scratch.state, "logs/service.log"));
  expect(message).toContain("cannot go on with");
  expect(message).not.toContain(secret);
  expect(await readRecord(scratch.state, "service")).toBeUndefined();
});

test("one that never gets healthy is stopped again", async () => {
  const news = { ...(await inputs({ MODE: "sick" })), startTimeoutSeconds: 1 };

  expect(await messageOf(provider.create(news))).toContain("did not answer at");
  expect(await isPortFree(news.port)).toBe(true);
});

test("a program that does not exist is named", async () => {
  const news = { ...(await inputs()), command: ["no-such-program"] };

  expect(await messageOf(provider.create(news))).toContain("no-such-program");
});

test("a taken port is named with who holds it and what to do; once it is free the next run works", async () => {
  const news = await inputs();
  const holder = createServer().listen(news.port, "127.0.0.1").unref();
  await once(holder, "listening");

  const message = await messageOf(provider.create(news));
  expect(message).toContain(`Port ${news.port} `);
  expect(message).toContain(`process ${process.pid}`);
  expect(message).toContain("set lakekeeper:ports");

  await new Promise((closed) => holder.close(closed));
  expect((await provider.create(news)).outs.running).toBe(true);
});

test("no secret is in the record or the command line, and only the owner reads record and log", async () => {
  const { outs } = await provider.create(await inputs());

  expect(await readFile(recordFile(scratch.state, "service"), "utf8")).not.toContain(secret);
  expect(await commandOf(outs.pid)).not.toContain(secret);
  for (const file of [recordFile(scratch.state, "service"), join(scratch.state, "logs/service.log")]) {
    expect((await stat(file)).mode & 0o077).toBe(0);
  }
});

test("after a reboot the pid belongs to another process, which is left alone", async () => {
  const news = await inputs();
  const { id, outs } = await provider.create(news);
  await killNow(outs);
  const bystander = spawn("sleep", ["60"]);
  await once(bystander, "spawn");
  const record = await readRecord(scratch.state, "service");
  await writeRecord(scratch.state, { ...record!, pid: bystander.pid! });

  expect(await provider.diff(id, outs, news)).toEqual({ changes: true });
  const { outs: again } = await provider.update(id, outs, news);
  expect(again.pid).not.toBe(bystander.pid);
  await writeRecord(scratch.state, { ...record!, pid: bystander.pid! });
  await provider.delete(id, outs);
  expect(await startTimeOf(bystander.pid!)).not.toBeUndefined();

  bystander.kill();
  process.kill(again.pid);
});

test("a broken record is as good as none", async () => {
  const news = await inputs();
  const { id, outs } = await provider.create(news);
  await killNow(outs);
  await writeFile(recordFile(scratch.state, "service"), '{"pid": ');

  expect(await provider.diff(id, outs, news)).toEqual({ changes: true });
  expect((await provider.update(id, outs, news)).outs.running).toBe(true);
});

test("delete stops it, twice is as good as once", async () => {
  const { id, outs } = await provider.create(await inputs());

  await provider.delete(id, outs);
  await provider.delete(id, outs);

  expect(await startTimeOf(outs.pid)).toBeUndefined();
  expect(await readRecord(scratch.state, "service")).toBeUndefined();
});

test("stopAll finds what runs without the engine's state", async () => {
  const { outs } = await provider.create(await inputs());

  expect(await stopAll(scratch.state)).toEqual(["service"]);
  expect(await startTimeOf(outs.pid)).toBeUndefined();
  expect(await stopAll(scratch.state)).toEqual([]);
});

test("wrong inputs are told all at once, without the secret", async () => {
  const news = await inputs();
  const { failures } = await provider.check(
    {},
    { ...news, name: "a/b", port: 80, environment: { SECRET_VALUE: 12345678 as never }, command: [] },
  );

  expect(failures.map(({ reason }) => reason).sort()).toEqual([
    "command must name a program, not []",
    "environment.SECRET_VALUE must be text",
    'name must be of letters, digits, ., - and _, not "a/b"',
    "port must be 1024 or more, not 80",
  ]);
  expect(JSON.stringify(failures)).not.toContain("12345678");
});
