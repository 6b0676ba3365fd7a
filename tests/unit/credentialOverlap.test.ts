import { clock } from "../../clients/retry.ts";
import overlap from "../../providers/credentialOverlap.provider.ts";

let now = 0;
const said: string[] = [];
const real = { ...clock };

beforeEach(() => {
  now = 0;
  said.length = 0;
  clock.now = () => now;
  clock.sleep = (milliseconds) => {
    now += milliseconds;
    return Promise.resolve();
  };
  jest.spyOn(console, "log").mockImplementation((line: string) => void said.push(line));
});
afterEach(() => {
  Object.assign(clock, real);
  jest.restoreAllMocks();
});

const at = (credential: string, seconds: number) => ({ credential, seconds });

test("another credential is outwaited for as long as what was vended may live", async () => {
  await overlap.update("overlap", at("a", 3660), at("b", 3660));
  expect(now).toBe(3_660_000);
  expect(said[0]).toMatch(/^waiting for the last credentials vended from the earlier token to expire.* s more$/);
});

test("a lifetime that was shortened in the same run does not shorten what was promised before", async () => {
  await overlap.update("overlap", at("a", 3660), at("b", 120));
  expect(now).toBe(3_660_000);
});

test("the first credential, and another lifetime alone, wait for nothing", async () => {
  await overlap.create(at("a", 3660));
  await overlap.update("overlap", at("a", 3660), at("a", 120));
  expect(now).toBe(0);
});

test("a preview shows a rotation", async () => {
  expect(await overlap.diff("overlap", at("a", 60), at("b", 60))).toEqual({ changes: true });
  expect(await overlap.diff("overlap", at("a", 60), at("a", 60))).toEqual({ changes: false });
});
