import { z } from "zod";
import { makeCheckout, type Checkout } from "../support/checkout.ts";

// The stack prod against the emulators: what is protected, and what it still needs to be told.

let checkout: Checkout;

beforeAll(async () => {
  checkout = await makeCheckout("prod");
});
afterAll(() => checkout.remove());

const exported = z.object({ deployment: z.object({ resources: z.array(z.object({ urn: z.string() })) }) });

async function resources(): Promise<string[]> {
  const state = exported.parse(JSON.parse(await checkout.engine("stack", "export")));
  return state.deployment.resources.map(({ urn }) => urn).sort();
}

test("make config says that nothing is missing, for the emulators have the accounts", async () => {
  const { output } = await checkout.mustMake("config");
  expect(output).toMatch(/^set +lakekeeper:r2\.accountId/m);
  expect(output).not.toContain("MISSING");
}, 600_000);

test("two replicas, vending required, and the ml-runner not yet pointed at it", async () => {
  const { output } = await checkout.mustMake("up");
  expect(output).toContain("LAKEHOUSE_CATALOG_TYPE=sql");
  expect(output).toContain("LAKEHOUSE_REST_VENDING=1");
}, 600_000);

test("down is refused before anything has been deleted", async () => {
  const before = await resources();
  const { code, output } = await checkout.make("down");
  expect(code).not.toBe(0);
  expect(output).toContain("cannot be deleted");
  expect(await resources()).toEqual(before);
  expect((await checkout.mustMake("doctor")).output).not.toContain("FAILED");
}, 600_000);
