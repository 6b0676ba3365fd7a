import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { IcebergCatalog } from "../../clients/iceberg.ts";
import { withCatalog } from "../../clients/lakekeeper.ts";
import { makeCheckout, resourceCounts, type Checkout } from "../support/checkout.ts";
import { doctorInputs } from "../support/liveStack.ts";

// The keys and tokens of a running stack are renewed: the tests run in this order, on one stack.

const TOKENS = ["LAKEHOUSE_CATALOG_TOKEN", "karmaToken", "deployerToken"] as const;
const DAY_MS = 86_400_000;

let checkout: Checkout;

beforeAll(async () => {
  checkout = await makeCheckout();
  await checkout.mustMake("up");
}, 600_000);

afterAll(async () => {
  await checkout.remove();
});

async function tokens(): Promise<string[]> {
  const outputs = await checkout.outputs();
  return TOKENS.map((name) => String(outputs[name]));
}

/** Whether Lakekeeper gives the bearer of this token a table. */
async function loadsTable(token: string): Promise<boolean> {
  const { connection, warehouseId } = await doctorInputs(checkout);
  return withCatalog({ uri: connection.uri, identity: { kind: "token", token } }, async (http) => {
    const table = { namespace: ["main", "default"], name: "t000" };
    const loaded = await new IcebergCatalog(http, warehouseId).loadTable(table, "client-managed");
    return loaded !== undefined;
  });
}

const kidOf = (token: string): string | undefined => decodeProtectedHeader(token).kid;

async function publishedKids(): Promise<string[]> {
  const { keys } = JSON.parse(await checkout.read(".state/local/issuer/jwks.json")) as { keys: { kid: string }[] };
  return keys.map(({ kid }) => kid);
}

/** The lines of a preview that are about one resource, up to the next one. */
function previewOf(output: string, type: string, name: string): string {
  const blocks = output.split(/^(?= *[~+-]+ ?pulumi-nodejs)/m);
  return blocks.find((block) => block.includes(type) && block.includes(`::${name}]`)) ?? "";
}

describe("a new signing key", () => {
  let before: string[];

  beforeAll(async () => {
    before = await tokens();
    await checkout.configure({ "lakekeeper:auth": { keyGeneration: 2 } });
  });

  test("is announced by the preview", async () => {
    const { output } = await checkout.mustMake("preview");
    expect(previewOf(output, "lakekeeper:SigningKey", "issuer-key")).toMatch(/~ generation\s*: 1 => 2/);
    for (const subject of ["deployer", "ml-runner", "karma"]) {
      expect(previewOf(output, "lakekeeper:Token", `access-${subject}`)).toMatch(/~ kid\s*: "\S+" => \[unknown\]/);
    }
    expect(await tokens()).toEqual(before);
  }, 600_000);

  test("signs every token anew, while the old ones go on being taken", async () => {
    const { output } = await checkout.mustMake("up");
    const after = await tokens();
    expect(new Set([...before, ...after]).size).toBe(6);
    const [oldKid, newKid] = [kidOf(before[0]!), kidOf(after[0]!)];
    expect(newKid).not.toBe(oldKid);
    expect(after.map(kidOf)).toEqual([newKid, newKid, newKid]);
    expect(await publishedKids()).toEqual([newKid, oldKid]);
    for (const token of [before[0]!, after[0]!]) expect(await loadsTable(token)).toBe(true);
    for (const token of [...before, ...after]) expect(output.includes(token)).toBe(false);
  }, 600_000);

  test("is made once", async () => {
    const made = await tokens();
    expect(Object.keys(resourceCounts((await checkout.mustMake("up")).output))).toEqual(["unchanged"]);
    expect(await tokens()).toEqual(made);
    expect((await checkout.mustMake("doctor")).output).not.toContain("FAILED");
  }, 600_000);

  test("is not taken back", async () => {
    await checkout.configure({ "lakekeeper:auth": { keyGeneration: 1 } });
    const { code, output } = await checkout.make("preview");
    await checkout.configure({ "lakekeeper:auth": { keyGeneration: 2 } });
    expect(code).not.toBe(0);
    expect(output).toContain("lakekeeper:auth.keyGeneration cannot go from 2 back to 1: that key is gone");
    expect(output).toContain("Set it to 2, or higher to make a new one.");
  }, 600_000);
});

describe("a token that is about to expire", () => {
  /** Makes the ml-runner's token one that was issued some days ago, as far as the stack knows. */
  async function age(days: number): Promise<void> {
    const state = JSON.parse(await checkout.engine("stack", "export")) as {
      deployment: { resources: { urn: string; outputs: Record<string, string> }[] };
    };
    const { outputs } = state.deployment.resources.find(({ urn }) => urn.endsWith("::access-ml-runner"))!;
    for (const name of ["issuedAt", "expiresAt"]) {
      outputs[name] = new Date(Date.parse(outputs[name]!) - days * DAY_MS).toISOString();
    }
    const file = join(checkout.directory, ".state", "aged.json");
    await writeFile(file, JSON.stringify(state));
    await checkout.engine("stack", "import", "--file", file);
  }

  const settings = { keyGeneration: 2, tokenLifetimeDays: 10, renewBeforeDays: 3 };

  beforeAll(async () => {
    await checkout.configure({ "lakekeeper:auth": settings });
    await checkout.mustMake("up");
  }, 600_000);

  test("is left alone before its window", async () => {
    await age(6);
    expect(Object.keys(resourceCounts((await checkout.mustMake("up")).output))).toEqual(["unchanged"]);
  }, 600_000);

  test("is renewed in its window, which the preview says", async () => {
    const [before, ...others] = await tokens();
    await age(2);
    const preview = await checkout.mustMake("preview");
    expect(preview.output).toMatch(/renew: expires \d{4}-\d\d-\d\dT/);

    await checkout.mustMake("up");
    const [renewed, ...unchanged] = await tokens();
    expect(unchanged).toEqual(others);
    expect(renewed).not.toBe(before);
    expect(decodeJwt(renewed!).exp! * 1000).toBeGreaterThan(Date.now() + 9.9 * DAY_MS);
    expect(await loadsTable(renewed!)).toBe(true);
    expect(Object.keys(resourceCounts((await checkout.mustMake("up")).output))).toEqual(["unchanged"]);
  }, 600_000);
});
