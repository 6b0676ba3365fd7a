import { join } from "node:path";
import { parseLocation, S3Client } from "../../clients/s3.ts";
import { resourceCounts, makeCheckout, type Checkout } from "../support/checkout.ts";
import { doctorInputs, pointersInCatalog } from "../support/liveStack.ts";
import { OwnSqlCatalog } from "../support/ownSqlCatalog.ts";

// A SqlCatalog of one's own, some of whose tables Lakekeeper does not take: the tests run in this order, on one stack.

const WAREHOUSE = "s3://lakehouse/warehouse";

let checkout: Checkout;
let own: OwnSqlCatalog;
let bucket: S3Client;
/** Before anything went wrong. */
let sample: Record<string, string>;
let output: string;

async function textOf(location: string): Promise<string> {
  const { bucket: name, key } = parseLocation(location);
  return (await bucket.get(name, key)).toString();
}

async function put(location: string, text: string): Promise<string> {
  const { bucket: name, key } = parseLocation(location);
  await bucket.put(name, key, text);
  return location;
}

async function inCatalog(): Promise<Record<string, string>> {
  return pointersInCatalog(await doctorInputs(checkout));
}

/** The line in which a run says what is wrong with a table. */
function saidOf(table: string): string {
  return output.split("\n").find((line) => line.trimStart().startsWith(`* ${table}: `)) ?? "";
}

/** JSON.parse rounds the ids of snapshots, so what is changed and written again goes without them. */
function withoutSnapshots(metadata: string): object {
  return {
    ...(JSON.parse(metadata) as object),
    ...{ "current-snapshot-id": -1, snapshots: [], "snapshot-log": [], refs: {} },
  };
}

/** What another writer would have left beside a table's current metadata file. */
const beside = (location: string, name: string): string => location.replace(/[^/]+$/, `${name}.metadata.json`);

beforeAll(async () => {
  checkout = await makeCheckout();
  await checkout.mustMake("up");
  bucket = new S3Client((await doctorInputs(checkout)).storage);
  own = await OwnSqlCatalog.at(join(checkout.directory, "own.db"));
  sample = await own.pointers();
  await checkout.configure({ "lakekeeper:sqlCatalog": own.uri });
}, 600_000);

afterAll(async () => {
  await checkout.remove();
});

describe("tables that cannot be registered", () => {
  /** Tables that come under another name at the same time. */
  const renamed = Array.from({ length: 10 }, (_, index) => `main.test.t${String(60 + index).padStart(3, "0")}`);

  beforeAll(async () => {
    const [t001, t002, t004, t005] = ["t001", "t002", "t004", "t005"].map((name) => sample[`main.default.${name}`]!);
    const elsewhere = JSON.stringify({
      ...withoutSnapshots(await textOf(t001!)),
      properties: { "write.data.path": `${WAREHOUSE}/elsewhere` },
    });
    own.point("main.default.t001", await put(beside(t001!, "00003-elsewhere"), elsewhere));
    own.point("main.default.t002", beside(t002!, "00003-gone"));
    own.point("main.default.again", await put(beside(t005!, "00002-again"), await textOf(t005!)));
    const twin = JSON.stringify({
      ...withoutSnapshots(await textOf(t004!)),
      location: `${WAREHOUSE}/main.test/twin`,
    });
    own.point("main.test.twin", await put(`${WAREHOUSE}/main.test/twin/metadata/00000-twin.metadata.json`, twin));
    own.point("main.test.prose", await put(`${WAREHOUSE}/main.test/prose/metadata/00000-prose.metadata.json`, "# t\n"));
    for (const table of renamed) {
      own.point(table, undefined);
      own.point(`${table}_renamed`, sample[table]);
    }
    const result = await checkout.make("up");
    ({ output } = result);
    expect(result.code).not.toBe(0);
  }, 600_000);

  test.each([
    ["main.default.t001", "it sets write.data.path", "Remove the property"],
    ["main.default.t002", "00003-gone.metadata.json is not in the bucket", "Read the current pointer"],
    ["main.default.again", "the catalog has the same table as main.default.t005", "leave this one out"],
    ["main.test.twin", "twin.metadata.json) under another name", "unregister the table"],
    ["main.test.prose", "prose.metadata.json is no Iceberg table metadata", "Check what today's catalog points at"],
  ])("%s is named with its reason (%s) and the remedy (%s)", (table, reason, remedy) => {
    expect(saidOf(table)).toContain(reason);
    expect(saidOf(table)).toContain(remedy);
  });

  test("leave all the others as the SqlCatalog has them, and are themselves as they were", async () => {
    const others = Object.entries(sample).map(([table, pointer]) => [
      renamed.includes(table) ? `${table}_renamed` : table,
      pointer,
    ]);
    expect(await inCatalog()).toEqual(Object.fromEntries(others));
  });

  test("once the pointers are repaired the next up finishes, and the one after it has nothing to do", async () => {
    for (const table of ["main.default.t001", "main.default.t002"]) own.point(table, sample[table]);
    for (const table of ["main.test.twin", "main.default.again", "main.test.prose"]) own.point(table, undefined);
    await checkout.mustMake("up");
    expect(await inCatalog()).toEqual(await own.pointers());
    expect(Object.keys(resourceCounts((await checkout.mustMake("up")).output))).toEqual(["unchanged"]);
    expect((await checkout.mustMake("doctor")).output).not.toContain("FAILED");
  }, 600_000);
});
