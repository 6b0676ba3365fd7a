import { request } from "undici";
import { z } from "zod";
import { S3Client } from "../../clients/s3.ts";
import { secretAccessKey } from "../../emulators/r2/accountTokens.ts";
import { readAccounts } from "../../tools/accounts.ts";
import { SAMPLE_BUCKET, sampleObjects } from "../../tools/fixtures/sample.ts";
import { makeCheckout, resourceCounts, type Checkout } from "../support/checkout.ts";
import { doctorInputs } from "../support/liveStack.ts";

// The stack dev on an empty workspace: the real engine against Railway's and Cloudflare's emulators. In this order.

const FIRST = "0.13.1";
/** There never was one. */
const MISSING = "0.13.2";
const NEXT = "0.13.3";

let checkout: Checkout;

beforeAll(async () => {
  checkout = await makeCheckout("dev");
});
afterAll(() => checkout.remove());

const calls = z.object({ calls: z.int(), mostAtOnce: z.int(), operations: z.record(z.string(), z.int()) });
const objects = z.record(z.string(), z.array(z.string()));
const services = z.object({
  data: z.object({
    projects: z.object({
      edges: z.array(
        z.object({
          node: z.object({
            services: z.object({
              edges: z.array(z.object({ node: z.object({ id: z.string(), name: z.string() }) })),
            }),
          }),
        }),
      ),
    }),
  }),
});

/** What the emulator says of itself. */
async function look<T>(path: string, schema: z.ZodType<T>): Promise<T> {
  const { ports } = await readAccounts(checkout.state);
  const { body } = await request(`http://127.0.0.1:${ports.railway}/-/${path}`);
  return schema.parse(await body.json());
}

/** A call of Railway's API by a person. */
async function railway(query: string): Promise<unknown> {
  const { ports, railwayToken } = await readAccounts(checkout.state);
  const { body } = await request(`http://127.0.0.1:${ports.railway}/graphql/v2`, {
    method: "POST",
    headers: { authorization: `Bearer ${railwayToken}`, "content-type": "application/json" },
    body: JSON.stringify({ query }),
  });
  return body.json();
}

async function health(): Promise<number> {
  const catalogUrl = String((await checkout.outputs())["catalogUrl"]);
  const answer = await request(catalogUrl.replace(/\/catalog$/, "/health"));
  await answer.body.dump();
  return answer.statusCode;
}

const version = (wanted: string): Promise<void> => checkout.configure({ "lakekeeper:version": wanted });

test("a preview of a new stack names what will be made, and makes nothing", async () => {
  await version(FIRST);
  const { output } = await checkout.mustMake("preview");
  for (const type of [
    "railway:Project",
    "railway:Volume",
    "railway:Deployment",
    "AccountToken",
    "lakekeeper:Warehouse",
  ]) {
    expect(output).toContain(type);
  }
  expect((await look("objects", objects))["projects"]).toEqual([]);
}, 600_000);

test("up makes all of it, green, with at most 60 calls of which at most 5 are at a time", async () => {
  const before = (await look("calls", calls)).calls;
  const { output } = await checkout.mustMake("up");
  expect(output).toContain(`Lakekeeper: quay.io/lakekeeper/catalog:v${FIRST}`);
  expect(output).not.toContain("FAILED");
  expect(output).toContain("LAKEHOUSE_CATALOG_TYPE=rest");
  expect(output).toContain("LAKEHOUSE_REST_VENDING=1");
  const made = await look("calls", calls);
  expect(made.calls - before).toBeLessThanOrEqual(60);
  expect(made.mostAtOnce).toBeLessThanOrEqual(5);
  expect(await look("objects", objects)).toMatchObject({
    projects: ["lakekeeper-dev"],
    services: expect.arrayContaining(["Postgres", "Migrate", "Lakekeeper"]) as unknown,
    volumes: ["postgres-data"],
  });
}, 600_000);

test("a second up changes nothing and calls nobody; a refresh changes nothing with at most 12 calls", async () => {
  const before = (await look("calls", calls)).calls;
  expect(Object.keys(resourceCounts((await checkout.mustMake("up")).output))).toEqual(["unchanged"]);
  expect((await look("calls", calls)).calls).toBe(before);
  expect(Object.keys(resourceCounts((await checkout.mustMake("refresh")).output))).toEqual(["unchanged"]);
  expect((await look("calls", calls)).calls - before).toBeLessThanOrEqual(12);
}, 600_000);

test("the doctor sees the catalog as its clients do", async () => {
  expect((await checkout.mustMake("doctor")).output).not.toContain("FAILED");
}, 600_000);

test("a failed migration leaves the old Lakekeeper serving, and says why", async () => {
  await version(MISSING);
  const { code, output } = await checkout.make("up");
  expect(code).not.toBe(0);
  expect(output).toMatch(/Migrate: its deployment .* is FAILED/);
  expect(output).toContain("What ran before goes on running");
  expect(await health()).toBe(200);
}, 600_000);

test("a new image is migrated first, after a backup of the volume, and then served", async () => {
  const before = (await look("calls", calls)).operations["volumeInstanceBackupCreate"] ?? 0;
  await version(NEXT);
  await checkout.mustMake("up");
  expect((await checkout.outputs())["lakekeeperRuntime"]).toBe(
    `quay.io/lakekeeper/catalog:v${NEXT} (on the emulators, which run the stand-in for it)`,
  );
  expect(await health()).toBe(200);
  expect(before).toBe(1);
}, 600_000);

test("an older image is refused in the preview, with the reason", async () => {
  await version(FIRST);
  const { code, output } = await checkout.make("preview");
  expect(code).not.toBe(0);
  expect(output).toContain(`lakekeeper:version cannot go from ${NEXT} back to ${FIRST}`);
  await version(NEXT);
}, 600_000);

test("a service that somebody deletes on Railway is seen by a refresh and made again", async () => {
  const found = services.parse(
    await railway("{ projects(first: 5) { edges { node { services(first: 9) { edges { node { id name } } } } } } }"),
  );
  const nodes = found.data.projects.edges[0]!.node.services.edges.map(({ node }) => node);
  await railway(`mutation { serviceDelete(id: "${nodes.find(({ name }) => name === "Lakekeeper")!.id}") }`);
  await checkout.mustMake("refresh");
  await checkout.mustMake("up");
  expect((await look("objects", objects))["services"]?.sort()).toEqual(nodes.map(({ name }) => name).sort());
  expect((await checkout.mustMake("doctor")).output).not.toContain("FAILED");
}, 600_000);

test("a destroy leaves nothing on Railway and every object in the bucket", async () => {
  const { endpoint } = (await doctorInputs(checkout)).storage;
  await checkout.engine("destroy", "--yes", "--skip-preview");
  for (const names of Object.values(await look("objects", objects))) expect(names).toEqual([]);

  const { tokenId, tokenValue } = await readAccounts(checkout.state);
  const bucket = new S3Client({
    endpoint,
    region: "auto",
    accessKeyId: tokenId,
    secretAccessKey: secretAccessKey({ value: tokenValue }),
  });
  for (const { key } of sampleObjects()) await bucket.head(SAMPLE_BUCKET, key);
  expect((await checkout.mustMake("down")).output).toContain("Nothing of the stack dev is running");
}, 600_000);
