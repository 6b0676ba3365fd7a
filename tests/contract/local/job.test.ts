import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { UserError } from "../../../clients/errors.ts";
import provider, { type JobInputs } from "../../../providers/local/job.provider.ts";
import { makeScratch, randomPassword, type Scratch } from "../../support/scratch.ts";

let scratch: Scratch;
let secret: string;

beforeEach(async () => {
  scratch = await makeScratch();
  secret = randomPassword();
});

afterEach(() => scratch.remove());

async function inputs(body: string): Promise<JobInputs> {
  return {
    state: scratch.state,
    name: "migrate",
    command: [await scratch.script("migrate", body)],
    environment: { DATABASE_URL: `postgresql://role:${secret}@127.0.0.1/catalog` },
    timeoutSeconds: 10,
    code: [],
    triggers: { version: "0.13.3" },
  };
}

const failureOf = async (news: JobInputs) => {
  const error: unknown = await provider.create(news).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(UserError);
  return (error as UserError).message;
};

test("runs to its end with its environment, and its output is in the log", async () => {
  const { outs } = await provider.create(await inputs('echo "migrated ${DATABASE_URL##*/}"'));

  expect(Date.parse(outs.completedAt)).toBeLessThanOrEqual(Date.now());
  expect(await readFile(join(scratch.state, "logs/migrate.log"), "utf8")).toBe("migrated catalog\n");
});

test("a failure says how it ended, where the log is and how it ends, without the password", async () => {
  const message = await failureOf(await inputs('echo "cannot connect to $DATABASE_URL" >&2; exit 1'));

  expect(message).toContain("migrate failed: exit code 1");
  expect(message).toContain(join(scratch.state, "logs/migrate.log"));
  expect(message).toContain("cannot connect to postgresql://role:");
  expect(message).not.toContain(secret);
});

test("only what this run has said is shown", async () => {
  await provider.create(await inputs("echo the run before"));

  expect(await failureOf(await inputs("echo this run; exit 1"))).not.toContain("the run before");
});

test("one that does not end in time is killed", async () => {
  const news = { ...(await inputs("echo $$; exec sleep 600")), timeoutSeconds: 0.5 };

  expect(await failureOf(news)).toContain("still ran after 0.5 s");
  const pid = Number(await readFile(join(scratch.state, "logs/migrate.log"), "utf8"));
  expect(() => process.kill(pid, 0)).toThrow("ESRCH");
});

test("runs again for another trigger, command, environment or code, and for nothing else", async () => {
  const { inputs: news } = await provider.check({}, await inputs("exit 0"));
  const { id, outs } = await provider.create(news);

  expect(await provider.diff(id, outs, { ...news, timeoutSeconds: 20 })).toEqual({ changes: false });
  expect(await provider.diff(id, outs, { ...news, triggers: { version: "0.14.0" } })).toEqual({ changes: true });
  expect(await provider.diff(id, outs, { ...news, command: ["true"] })).toEqual({ changes: true });
  expect(await provider.diff(id, outs, { ...news, environment: {} })).toEqual({ changes: true });
  const { inputs: newCode } = await provider.check(news, { ...news, code: ["platforms/local"] });
  expect(await provider.diff(id, outs, newCode)).toEqual({ changes: true });
});
