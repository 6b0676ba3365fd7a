import { forEachAtOnce } from "../../clients/concurrency.ts";
import { UserError } from "../../clients/errors.ts";
import { clock, retry, waitFor } from "../../clients/retry.ts";

const real = { ...clock };
let time = 0;
let slept: number[] = [];

beforeEach(() => {
  [time, slept] = [0, []];
  clock.now = () => time;
  clock.sleep = async (milliseconds) => {
    slept.push(milliseconds);
    time += milliseconds;
  };
});
afterEach(() => void Object.assign(clock, real));

test("a wait ends as soon as the condition holds, and tells more and more rarely what it waits for", async () => {
  const said: string[] = [];
  const look = async () => (time >= 30_000 ? { value: "ready" } : { waiting: "not yet" });
  const options = {
    what: "the server to start",
    deadlineSeconds: 60,
    remedy: "Look at its log.",
    say: (line: string) => said.push(line),
  };
  expect(await waitFor(look, options)).toBe("ready");
  expect(time).toBe(30_000);
  expect(said).toEqual([3, 6, 12, 24].map((at) => `waiting for the server to start (${at} s, at most 60 s): not yet`));
});

test("a deadline says what was awaited, what was seen last and what to do", async () => {
  const options = { what: "the server to start", deadlineSeconds: 5, remedy: "Look at its log.", say: () => undefined };
  const wait = waitFor(async () => ({ waiting: "connection refused" }), options);
  await expect(wait).rejects.toThrow(
    new UserError("Waited 5 s for the server to start, in vain: connection refused. Look at its log."),
  );
});

test("a retry passes on what it is not to retry", async () => {
  let attempts = 0;
  const action = () => Promise.reject(new Error(`failure ${++attempts}`));
  await expect(retry(action, (_error, attempt) => (attempt < 3 ? attempt * 100 : undefined))).rejects.toThrow(
    "failure 3",
  );
  expect(slept).toEqual([100, 200]);
});

test("work side by side stops at the first failure and begins nothing after it", async () => {
  const begun: number[] = [];
  const work = async (item: number) => {
    begun.push(item);
    await Promise.resolve();
    if (item === 2) throw new Error("the second fails");
  };
  await expect(forEachAtOnce([1, 2, 3, 4, 5, 6, 7, 8], 2, work)).rejects.toThrow("the second fails");
  await new Promise((resolve) => setImmediate(resolve));
  expect(begun.length).toBeLessThan(5);
});
