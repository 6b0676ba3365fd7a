import { request } from "undici";
import { z } from "zod";
import { readAccounts } from "../../tools/accounts.ts";
import { makeCheckout, type Checkout } from "../support/checkout.ts";

// The token that Lakekeeper mints from is renewed while clients read: on the stack dev, against the emulators.

const SHORT = { "lakekeeper:stsTokenValiditySeconds": 15 };

let checkout: Checkout;

beforeAll(async () => {
  checkout = await makeCheckout("dev");
  await checkout.configure(SHORT);
  await checkout.mustMake("up");
}, 600_000);
afterAll(() => checkout.remove());

const tokens = z.object({ result: z.array(z.object({ name: z.string() })) });

/** The API tokens that the stack has made at Cloudflare, by their generation. */
async function generations(): Promise<number[]> {
  const { cloudflareAccountId, tokenValue, ports } = await readAccounts(checkout.state);
  const { body } = await request(`http://127.0.0.1:${ports.r2}/client/v4/accounts/${cloudflareAccountId}/tokens`, {
    headers: { authorization: `Bearer ${tokenValue}` },
  });
  const found = tokens.parse(await body.json()).result.map(({ name }) => /generation (\d+)/.exec(name)?.[1]);
  return found.flatMap((generation) => (generation === undefined ? [] : [Number(generation)])).sort();
}

test("a preview shows the new token, the old one's end, and what waits in between", async () => {
  await checkout.configure({ ...SHORT, "lakekeeper:r2TokenGeneration": 2 });
  const { output } = await checkout.mustMake("preview");
  expect(output).toMatch(/\+ cloudflare:index\/accountToken:AccountToken/);
  expect(output).toMatch(/- cloudflare:index\/accountToken:AccountToken/);
  expect(output).toContain("lakekeeper:CredentialOverlap");
  expect(await generations()).toEqual([1]);
}, 600_000);

test("a run that is killed while it waits has deleted nothing", async () => {
  const run = checkout.start("up");
  await run.until((output) => output.includes("waiting for the last credentials vended from the earlier token"));
  process.kill(checkout.enginePid()!, "SIGKILL");
  expect((await run.result).code).not.toBe(0);
  expect(await generations()).toEqual([1, 2]);
}, 600_000);

test("make rotate goes on to the next one, deletes those before it, and no read fails", async () => {
  const { output } = await checkout.mustMake("rotate", { WHAT: "r2" });
  const [, reads, failures] = /^reads (\d+), failures (\d+)$/m.exec(output) ?? [];
  expect(Number(reads)).toBeGreaterThan(100);
  expect(failures).toBe("0");
  expect(await generations()).toEqual([3]);
  expect((await checkout.mustMake("doctor")).output).not.toContain("FAILED");
}, 600_000);
