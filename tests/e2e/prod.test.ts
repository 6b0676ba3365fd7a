import { z } from "zod";
import { makeCheckout, type Checkout } from "../support/checkout.ts";

// The stack prod against the emulators: what is protected, and what it still needs to be told.

let checkout: Checkout;

beforeAll(async () => {
  checkout = await makeCheckout("prod");
});
afterAll(() => checkout.remove());

const resource = z.object({ urn: z.string(), outputs: z.record(z.string(), z.unknown()).optional() });
const exported = z.object({ deployment: z.object({ resources: z.array(resource).default([]) }) });

async function state(): Promise<z.infer<typeof resource>[]> {
  return exported.parse(JSON.parse(await checkout.engine("stack", "export"))).deployment.resources;
}

async function resources(): Promise<string[]> {
  return (await state()).map(({ urn }) => urn).sort();
}

/** Outputs of the resource with that name. */
async function outputs(name: string): Promise<Record<string, unknown> | undefined> {
  return (await state()).find(({ urn }) => urn.endsWith(`::${name}`))?.outputs;
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

test("the bucket that is there is taken into the stack, with its rules, and a second up changes nothing", async () => {
  const set = ["config", "set", "--path"];
  await checkout.engine(...set, "lakekeeper:r2.bucket", "import");
  await checkout.engine(...set, "lakekeeper:r2.abortUploadsAfterDays", "7");
  await checkout.engine(...set, "lakekeeper:r2.locks[0].prefix", "main/default/");
  await checkout.engine(...set, "lakekeeper:r2.locks[0].days", "2");
  await checkout.mustMake("up");
  const { name, accountId } = (await outputs("r2-bucket")) ?? {};
  const of = { bucketName: name, accountId, jurisdiction: "default" };
  expect(await outputs("r2-lifecycle")).toMatchObject({ ...of, rules: [{ id: "abort-uploads" }] });
  expect(await outputs("r2-lock")).toMatchObject({
    ...of,
    rules: [{ prefix: "main/default/", condition: { type: "Age", maxAgeSeconds: 172_800 } }],
  });
  expect((await checkout.mustMake("up")).output).toMatch(/Resources:\s+\d+ unchanged/);
}, 600_000);

test("down is refused before anything has been deleted", async () => {
  const before = await resources();
  const { code, output } = await checkout.make("down");
  expect(code).not.toBe(0);
  expect(output).toContain("cannot be deleted");
  expect(await resources()).toEqual(before);
  expect((await checkout.mustMake("doctor")).output).not.toContain("FAILED");
}, 600_000);

test("what was unprotected goes, and what stays is named", async () => {
  await checkout.engine("state", "unprotect", "--all", "--yes");
  const { output } = await checkout.mustMake("down");
  const [, kept = ""] = /Left where it is.*:\n((?: {2}.*\n)+)/.exec(output) ?? [];
  expect(kept).toMatch(/^ {2}Project project \([0-9a-f-]{36}\)$/m);
  expect(kept).toMatch(/^ {2}R2Bucket r2-bucket \(lakehouse\)$/m);
  expect(await resources()).toEqual([]);
}, 600_000);
