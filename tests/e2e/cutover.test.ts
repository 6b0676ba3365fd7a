import { join } from "node:path";
import { S3Client, parseLocation } from "../../clients/s3.ts";
import { makeCheckout, type Checkout } from "../support/checkout.ts";
import { doctorInputs, pointersInCatalog } from "../support/liveStack.ts";
import { OwnSqlCatalog } from "../support/ownSqlCatalog.ts";

// The move to Lakekeeper and the way back, phase by phase: the tests run in this order, on one stack.

interface Exported {
  readonly deployment: { readonly resources: { readonly urn: string; readonly protect?: boolean }[] };
}

/** What holds pointers, keys or how far the move has gone. */
const PROTECTED = /lakekeeper:(Cutover|PostgresCluster|SigningKey|Warehouse|Namespaces|Tables)::/;

const TABLE = "main.default.t007";

let checkout: Checkout;
let catalog: OwnSqlCatalog;
/** Where the table was registered, and where a writer has moved it since. */
let first: string;
let second: string;

beforeAll(async () => {
  checkout = await makeCheckout();
  await checkout.mustMake("up");
  catalog = await OwnSqlCatalog.at(join(checkout.directory, "own.db"));
  first = (await catalog.pointers())[TABLE]!;
  second = first.replace(/[^/]+$/, "00009-later.metadata.json");
  const bucket = new S3Client((await doctorInputs(checkout)).storage);
  const [from, to] = [parseLocation(first), parseLocation(second)];
  await bucket.put(to.bucket, to.key, await bucket.get(from.bucket, from.key));
}, 600_000);

afterAll(async () => {
  await checkout.remove();
});

async function enter(phase: string): Promise<void> {
  await checkout.configure({ "lakekeeper:sqlCatalog": catalog.uri, "lakekeeper:cutover": phase });
}

async function catalogType(): Promise<unknown> {
  return (await checkout.outputs())["LAKEHOUSE_CATALOG_TYPE"];
}

async function pointer(): Promise<string | undefined> {
  return (await pointersInCatalog(await doctorInputs(checkout)))[TABLE];
}

test("read and sql are exchanged at will, and decide which catalog the ml-runner reads", async () => {
  expect(await catalogType()).toBe("rest");
  await enter("sql");
  expect((await checkout.mustMake("up")).output).toContain("LAKEHOUSE_CATALOG_TYPE=sql");
  expect(await catalogType()).toBe("sql");
  expect(await pointer()).toBe(first);
  await enter("read");
  await checkout.mustMake("up");
  expect(await catalogType()).toBe("rest");
}, 600_000);

test("the run that enters write registers the SqlCatalog's last pointers", async () => {
  catalog.point(TABLE, second);
  await enter("write");
  await checkout.mustMake("up");
  expect(await catalogType()).toBe("rest");
  expect(await pointer()).toBe(second);
}, 600_000);

test("from then on the SqlCatalog is not followed any more", async () => {
  catalog.point(TABLE, first);
  catalog.point("main.default.t008", undefined);
  await checkout.mustMake("up");
  expect(await pointer()).toBe(second);
  expect(Object.keys(await pointersInCatalog(await doctorInputs(checkout)))).toHaveLength(84);
}, 600_000);

test.each(["read", "sql"])(
  "there is no way back from write to %s, which the preview says",
  async (phase) => {
    await enter(phase);
    const { code, output } = await checkout.make("preview");
    expect(code).not.toBe(0);
    expect(output).toContain(`lakekeeper:cutover cannot go from write back to ${phase}`);
    expect(output).toContain("Keep lakekeeper:cutover at write");
  },
  600_000,
);

test("and up does nothing on that way either", async () => {
  const { code } = await checkout.make("up");
  expect(code).not.toBe(0);
  expect(await pointer()).toBe(second);
  expect(Object.keys(await pointersInCatalog(await doctorInputs(checkout)))).toHaveLength(84);
  expect(await catalogType()).toBe("rest");
  const { deployment } = JSON.parse(await checkout.engine("stack", "export")) as Exported;
  const unprotected = deployment.resources.filter(({ protect, urn }) => PROTECTED.test(urn) && protect !== true);
  expect(unprotected.map(({ urn }) => urn)).toEqual([]);

  await enter("write");
  await checkout.mustMake("up");
  expect((await checkout.mustMake("doctor")).output).not.toContain("FAILED");
}, 600_000);
