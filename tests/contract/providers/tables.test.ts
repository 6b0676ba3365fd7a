import { randomUUID } from "node:crypto";
import { IcebergCatalog } from "../../../clients/iceberg.ts";
import { withCatalog } from "../../../clients/lakekeeper.ts";
import { clock } from "../../../clients/retry.ts";
import bootstrap from "../../../providers/bootstrap.provider.ts";
import type { PartialFailure } from "../../../providers/provider.ts";
import tables, { type TablesInputs, type TablesOutputs } from "../../../providers/tables.provider.ts";
import { parseTableName } from "../../../providers/tables.registration.ts";
import warehouse from "../../../providers/warehouse.provider.ts";
import {
  r2Credential,
  TestCatalog,
  writeMetadata,
  type MetadataOptions,
  type WrittenMetadata,
} from "../../support/catalog.ts";
import { refusal } from "../../support/proxy.ts";

let catalog: TestCatalog;
let warehouseId: string;
/** Progress that the provider tells. */
const said: string[] = [];
const realSleep = clock.sleep;

beforeAll(async () => {
  catalog = await TestCatalog.start();
  await bootstrap.create({ connection: catalog.connection });
  const made = await warehouse.create({
    connection: catalog.connection,
    name: "lakehouse",
    storageProfile: { bucket: "lakehouse", keyPrefix: "warehouse", region: "auto", endpoint: catalog.r2.url },
    storageCredential: r2Credential(),
  });
  warehouseId = made.id;
  await iceberg((all) => all.createNamespace(["main"]));
  await iceberg((all) => all.createNamespace(["main", "default"]));
});
afterAll(() => catalog.stop());

beforeEach(() => {
  said.length = 0;
  jest.spyOn(console, "log").mockImplementation((line: string) => void said.push(line));
  // Waits are as many as in earnest, but short.
  clock.sleep = (milliseconds) => realSleep(Math.min(milliseconds, 50));
});
afterEach(async () => {
  jest.restoreAllMocks();
  clock.sleep = realSleep;
  catalog.proxy.reset();
  await iceberg(async (all) => {
    for (const table of await all.tables(["main", "default"])) await all.unregisterTable(table);
  });
});

const iceberg = <T>(work: (catalog: IcebergCatalog) => Promise<T>): Promise<T> =>
  withCatalog(catalog.connection, (http) => work(new IcebergCatalog(http, warehouseId)));
const write = (table: string, version: number, options: Partial<MetadataOptions> = {}): Promise<WrittenMetadata> =>
  writeMetadata(catalog.bucket, { table: `main.default.${table}`, version, ...options });
const registerByHand = (table: string, { pointer }: WrittenMetadata, overwrite = false) =>
  iceberg((all) => all.registerTable({ namespace: ["main", "default"], name: table }, pointer, overwrite));
/** The pointers in the catalog, by table. */
const live = (): Promise<Record<string, string>> =>
  iceberg(async (all) => {
    const pointers: Record<string, string> = {};
    for (const table of await all.tables(["main", "default"])) {
      pointers[`main.default.${table.name}`] = (await all.loadTable(table, "client-managed"))!["metadata-location"];
    }
    return pointers;
  });

/** Inputs with these tables of `main.default`. */
function inputs(versions: Record<string, WrittenMetadata>): TablesInputs {
  const pointers = Object.entries(versions).map(([name, { pointer }]) => [`main.default.${name}`, pointer]);
  return {
    connection: catalog.connection,
    warehouseId,
    location: "s3://lakehouse/warehouse",
    tables: Object.fromEntries(pointers) as Record<string, string>,
  };
}

const create = async (versions: Record<string, WrittenMetadata>): Promise<TablesOutputs> =>
  (await tables.create(inputs(versions))).outs;
const diff = (olds: TablesOutputs, news: TablesInputs) => tables.diff(warehouseId, olds, news);
const update = async (olds: TablesOutputs, versions: Record<string, WrittenMetadata>): Promise<TablesOutputs> =>
  (await tables.update(warehouseId, olds, inputs(versions))).outs;
const refreshed = async (olds: TablesOutputs): Promise<TablesOutputs> => (await tables.read(warehouseId, olds)).props!;
type Failure = PartialFailure<TablesOutputs>;
const failureOf = (work: Promise<unknown>): Promise<Failure> =>
  work.then(
    () => Promise.reject(new Error("it did not fail")),
    (error: Failure) => error,
  );
const NONE = { changes: false };
const SOME = { changes: true };

test("a set of tables is registered side by side, and then nothing differs", async () => {
  const versions: Record<string, WrittenMetadata> = {};
  for (let index = 0; index < 20; index++) versions[`t${index}`] = await write(`t${index}`, 1);
  const outs = (await tables.create({ ...inputs(versions), concurrency: 4 })).outs;
  expect(catalog.proxy.mostAtOnce).toBe(4);
  expect(await live()).toEqual(inputs(versions).tables);
  expect(outs.registered).toEqual(inputs(versions).tables);
  expect(outs.tableUuids["main.default.t7"]).toBe(versions["t7"]!.uuid);
  expect(await diff(outs, inputs(versions))).toEqual(NONE);
  expect(await refreshed(outs)).toEqual(outs);
  expect(said).toEqual([]);
});

test("the preview says what will happen to each table", async () => {
  const [one, two, three] = [await write("one", 1), await write("two", 1), await write("three", 1)];
  const outs = await create({ one, two });
  const next = await write("two", 2, { after: [two] });
  expect(await diff(outs, inputs({ two: next, three }))).toEqual(SOME);
  const file = (version: WrittenMetadata) => version.pointer.split("/").at(-1);
  expect(said).toEqual([
    `- main.default.one (files stay)\n~ main.default.two: ${file(two)} -> ${file(next)}\n+ main.default.three`,
  ]);
});

test("added, moved and removed in one update; the rest is not touched and no file is lost", async () => {
  const [one, two, three] = [await write("one", 1), await write("two", 1), await write("three", 1)];
  const outs = await create({ one, two, three });
  const [next, four] = [await write("two", 2, { after: [two] }), await write("four", 1)];
  catalog.proxy.reset();
  const after = await update(outs, { two: next, three, four });
  expect(catalog.proxy.calls.some(({ call }) => call.includes("/tables/three"))).toBe(false);
  expect(await live()).toEqual(inputs({ two: next, three, four }).tables);
  expect(after.registered).toEqual(inputs({ two: next, three, four }).tables);
  expect(catalog.proxy.count(/^DELETE .*\/one\?purgeRequested=false$/)).toBe(1);
  expect(catalog.proxy.count(/^DELETE/)).toBe(1);
  await catalog.bucket.head("lakehouse", one.pointer.replace("s3://lakehouse/", ""));
});

test("a table that comes under another name is freed first", async () => {
  const one = await write("one", 1);
  const after = await update(await create({ one }), { uno: one });
  expect(await live()).toEqual({ "main.default.uno": one.pointer });
  expect(after.tableUuids).toEqual({ "main.default.uno": one.uuid });
});

describe("a table that is there already", () => {
  test("with the same pointer is taken as it is", async () => {
    const one = await write("one", 1);
    await registerByHand("one", one);
    const outs = await create({ one });
    expect(outs.registered).toEqual({ "main.default.one": one.pointer });
    expect(outs.tableUuids).toEqual({ "main.default.one": one.uuid });
  });

  test("with an older pointer is moved, because the new file goes back to it", async () => {
    const one = await write("one", 1);
    const next = await write("one", 2, { after: [one] });
    await registerByHand("one", one);
    await create({ one: next });
    expect(await live()).toEqual({ "main.default.one": next.pointer });
  });

  test("with a newer pointer is left, and said to be", async () => {
    const one = await write("one", 1);
    const next = await write("one", 2, { after: [one] });
    await registerByHand("one", next);
    const outs = await create({ one });
    expect(await live()).toEqual({ "main.default.one": next.pointer });
    expect(said).toEqual([
      `main.default.one: left at ${next.pointer}: the catalog has moved on from ${one.pointer} by itself`,
    ]);
    expect(await diff(outs, inputs({ one }))).toEqual(NONE);
  });

  test("and is another table is refused, with both named", async () => {
    const [theirs, ours] = [await write("one", 1), await write("one", 1)];
    await registerByHand("one", theirs);
    const { reasons } = await failureOf(create({ one: ours }));
    expect(reasons[0]).toMatch(
      new RegExp(
        `^main.default.one: the catalog has another table of this name \\(${theirs.uuid}.*${ours.uuid}.*Nothing was changed`,
      ),
    );
    expect(await live()).toEqual({ "main.default.one": theirs.pointer });
  });

  test("under another name is named", async () => {
    const one = await write("one", 1);
    await registerByHand("uno", one);
    const { reasons } = await failureOf(create({ one }));
    expect(reasons[0]).toMatch(
      /^main.default.one: the catalog has the same table as main.default.uno. Unregister that one/,
    );
  });

  test("but soft-deleted is explained", async () => {
    const one = await write("one", 1);
    const tabular = {
      id: one.uuid,
      name: "one",
      namespace: ["main", "default"],
      "expiration-date": "2099-01-01T00:00:00Z",
    };
    catalog.proxy.fault = (call) => {
      if (call.endsWith("/register")) return refusal(409, "AlreadyExistsException");
      return call.endsWith("/deleted-tabulars") ? { status: 200, body: { tabulars: [tabular] } } : undefined;
    };
    const { reasons } = await failureOf(create({ one }));
    expect(reasons[0]).toMatch(/^main.default.one: it was dropped, .*keeps it until 2099-01-01T00:00:00Z. Undrop it/);
  });
});

describe("once Lakekeeper commits", () => {
  test("its commits are no drift and are never taken back", async () => {
    const one = await write("one", 1);
    const outs = await create({ one });
    const committed = await write("one", 2, { after: [one] });
    await registerByHand("one", committed, true);

    const seen = await refreshed(outs);
    expect(await diff(seen, inputs({ one }))).toEqual(NONE);
    await update(seen, { one });
    expect(await live()).toEqual({ "main.default.one": committed.pointer });
  });

  test("a pointer that the other side has moved as well is refused: a fork", async () => {
    const one = await write("one", 1);
    const outs = await create({ one });
    const committed = await write("one", 2, { after: [one] });
    await registerByHand("one", committed, true);
    const forked = await write("one", 3, { after: [one] });

    const failure = await failureOf(update(outs, { one: forked }));
    expect(failure.reasons[0]).toMatch(
      /^main.default.one: .*both sides have been committing to it. Nothing was changed/,
    );
    expect(await live()).toEqual({ "main.default.one": committed.pointer });
    // The state still knows what it registered last, so that the next run refuses for the same reason.
    expect((await failureOf(update(failure.properties, { one: forked }))).reasons).toEqual(failure.reasons);
  });

  test("a newer pointer that goes back to the catalog's is taken", async () => {
    const one = await write("one", 1);
    const outs = await create({ one });
    const byHand = await write("one", 2, { after: [one] });
    await registerByHand("one", byHand, true);
    const next = await write("one", 3, { after: [one, byHand] });
    await update(await refreshed(outs), { one: next });
    expect(await live()).toEqual({ "main.default.one": next.pointer });
  });

  test("where the new file cannot be read, nothing is risked", async () => {
    const one = await write("one", 1);
    const outs = await create({ one });
    await registerByHand("one", await write("one", 2, { after: [one] }), true);
    const missing = { ...one, pointer: one.pointer.replace("00001-", "00009-") };
    const { reasons } = await failureOf(update(outs, { one: missing }));
    expect(reasons[0]).toMatch(/whether s3:\/\/.*00009-.* is newer cannot be told: .*404/);
  });

  test("removing such a table tells the pointer it had", async () => {
    const one = await write("one", 1);
    const outs = await create({ one });
    const committed = await write("one", 2, { after: [one] });
    await registerByHand("one", committed, true);
    await update(outs, {});
    expect(await live()).toEqual({});
    expect(said).toEqual([
      `main.default.one: unregistered; the catalog had moved on to ${committed.pointer}, which is the pointer to register to have it back`,
    ]);
  });
});

test("going back to an older file than the one registered is refused", async () => {
  const one = await write("one", 1);
  const next = await write("one", 2, { after: [one] });
  const outs = await create({ one: next });
  const { reasons } = await failureOf(update(outs, { one }));
  expect(reasons[0]).toMatch(/is older than .*under which it is registered; going back would lose commits/);
  expect(await live()).toEqual({ "main.default.one": next.pointer });
});

test("a table that today's catalog has made anew under its name is taken, while ours is untouched", async () => {
  const one = await write("one", 1);
  const outs = await create({ one });
  const anew = await write("one", 1, { uuid: randomUUID() });
  const after = await update(outs, { one: anew });
  expect(await live()).toEqual({ "main.default.one": anew.pointer });
  expect(after.tableUuids).toEqual({ "main.default.one": anew.uuid });
});

describe("drift", () => {
  test("a table dropped by hand is registered again", async () => {
    const [one, two] = [await write("one", 1), await write("two", 1)];
    const outs = await create({ one, two });
    await iceberg((all) => all.unregisterTable(parseTableName("main.default.one")));
    const seen = await refreshed(outs);
    expect(await diff(seen, inputs({ one, two }))).toEqual(SOME);
    expect(said.at(-1)).toBe("+ main.default.one");
    await update(seen, { one, two });
    expect(await live()).toEqual(inputs({ one, two }).tables);
  });

  test("a table set back by hand is brought forward", async () => {
    const one = await write("one", 1);
    const next = await write("one", 2, { after: [one] });
    const outs = await create({ one: next });
    await registerByHand("one", one, true);
    const seen = await refreshed(outs);
    expect(await diff(seen, inputs({ one: next }))).toEqual(SOME);
    await update(seen, { one: next });
    expect(await live()).toEqual({ "main.default.one": next.pointer });
  });

  test("reading mints no credentials", async () => {
    const outs = await create({ one: await write("one", 1) });
    const loads = jest.spyOn(IcebergCatalog.prototype, "loadTable");
    await refreshed(outs);
    expect(loads.mock.calls.map(([, delegation]) => delegation)).toEqual(["client-managed"]);
  });

  test("gone with its warehouse; kept while the server does not answer", async () => {
    const outs = await create({ one: await write("one", 1) });
    const elsewhere = { ...outs, warehouseId: "00000000-0000-0000-0000-00000000dead" };
    expect(await tables.read(elsewhere.warehouseId, elsewhere)).toEqual({});
    await tables.delete(elsewhere.warehouseId, elsewhere);
    catalog.proxy.fault = () => "cut";
    expect(await tables.read(warehouseId, outs)).toEqual({ id: warehouseId, props: outs });
  });
});

describe("failures", () => {
  test.each<[string, Partial<MetadataOptions>, RegExp]>([
    [
      "write.data.path",
      { properties: { "write.data.path": "s3://lakehouse/data" } },
      /it sets write.data.path, .*remove_properties.*409 FailedToSetProperties/,
    ],
    [
      "a location outside of the warehouse",
      { location: "s3://lakehouse/other/bad" },
      /location inside it is not strictly below.*400 InvalidLocation.*s3:\/\/lakehouse\/other\/bad/,
    ],
    [
      "the location of another table",
      { location: "s3://lakehouse/warehouse/main.default/good" },
      /lies inside it or contains it.*409 LocationAlreadyTaken/,
    ],
  ])("%s is named with its reason, and the others go on", async (_what, options, words) => {
    const good = await write("good", 1);
    const outs = await create({ good });
    const [bad, more] = [await write("bad", 1, options), await write("more", 1)];
    const failure = await failureOf(update(outs, { good, bad, more }));
    expect(failure.reasons).toEqual([
      expect.stringMatching(
        /^main\.default\.bad: .*\n2 tables are registered\. Run the command again once the cause is gone: it does what is left\.$/s,
      ),
    ]);
    expect(failure.reasons[0]).toMatch(words);
    expect(failure.properties.registered).toEqual(inputs({ good, more }).tables);
    expect(await live()).toEqual(inputs({ good, more }).tables);

    const fixed = await write("bad", 2);
    expect(await diff(failure.properties, inputs({ good, bad: fixed, more }))).toEqual(SOME);
    await update(failure.properties, { good, bad: fixed, more });
    expect(await live()).toEqual(inputs({ good, bad: fixed, more }).tables);
  });

  test("two tables with one uuid: the second names the first", async () => {
    const first = await write("first", 1);
    const second = await write("second", 1, { uuid: first.uuid });
    const { reasons } = await failureOf(create({ first, second }));
    expect(reasons[0]).toMatch(
      /^main\.default\.(first|second): .*(the same table \(by the table-uuid in .+\) under another name|the same table as)/,
    );
  });

  test("a missing metadata file, a missing namespace", async () => {
    const one = await write("one", 1);
    const gone = { ...one, pointer: one.pointer.replace("00001-", "00009-") };
    expect((await failureOf(create({ gone }))).reasons[0]).toMatch(
      /^main.default.gone: the metadata file s3:.*is not in the bucket/,
    );
    const elsewhere = { ...inputs({}), tables: { "nowhere.one": one.pointer } };
    expect((await failureOf(tables.create(elsewhere))).reasons[0]).toMatch(
      /^nowhere.one: its namespace is not in the warehouse/,
    );
  });

  test("a server that goes down in the middle ends it, and the next run does the rest", async () => {
    const versions: Record<string, WrittenMetadata> = {};
    for (let index = 0; index < 10; index++) versions[`t${index}`] = await write(`t${index}`, 1);
    let registrations = 0;
    catalog.proxy.fault = (call) => (call.endsWith("/register") && ++registrations > 4 ? "cut" : undefined);
    const failure = await failureOf(tables.create({ ...inputs(versions), concurrency: 2 }));
    expect(failure.id).toBe(warehouseId);
    expect(failure.reasons[0]).toMatch(/^6 of 10 tables were not reached: Lakekeeper at http.*Check that it runs/);
    expect(Object.keys(failure.properties.registered)).toHaveLength(4);

    catalog.proxy.reset();
    await update(failure.properties, versions);
    expect(catalog.proxy.count(/register$/)).toBe(6);
    expect(await live()).toEqual(inputs(versions).tables);
  });

  test("an answer that is lost is settled by what is there", async () => {
    const one = await write("one", 1);
    let lost = 1;
    catalog.proxy.fault = (call) => (call.endsWith("/register") && lost-- > 0 ? "lose" : undefined);
    expect((await create({ one })).registered).toEqual({ "main.default.one": one.pointer });
  });

  test("Cloudflare's limit is waited out gently", async () => {
    const one = await write("one", 1);
    let refusals = 2;
    catalog.proxy.fault = (call) =>
      call.endsWith("/register") && refusals-- > 0
        ? refusal(412, "ShortTermCredentialError", "429 Too Many Requests")
        : undefined;
    await create({ one });
    expect(catalog.proxy.count(/register$/)).toBe(3);
  });
});

describe("delete", () => {
  test("unregisters all of them, keeps every file, and may be done twice", async () => {
    const [one, two] = [await write("one", 1), await write("two", 1)];
    const outs = await create({ one, two });
    const objects = async () => (await catalog.bucket.list("lakehouse", "warehouse/main.default/")).objects.length;
    const before = await objects();
    catalog.proxy.reset();
    await tables.delete(warehouseId, outs);
    expect(await live()).toEqual({});
    expect(
      catalog.proxy.calls.filter(({ call }) => call.startsWith("DELETE") && !call.endsWith("?purgeRequested=false")),
    ).toEqual([]);
    expect(await objects()).toBe(before);
    await tables.delete(warehouseId, outs);
  });

  test("leaves another table that has come under the name", async () => {
    const outs = await create({ one: await write("one", 1) });
    await iceberg((all) => all.unregisterTable(parseTableName("main.default.one")));
    const theirs = await write("one", 1);
    await registerByHand("one", theirs);
    await tables.delete(warehouseId, outs);
    expect(await live()).toEqual({ "main.default.one": theirs.pointer });
    expect(said[0]).toMatch(/^main.default.one: left in the catalog: it is another table now/);
  });

  test("names the tables that could not be unregistered", async () => {
    const outs = await create({ one: await write("one", 1), two: await write("two", 1) });
    catalog.proxy.fault = (call) =>
      /^DELETE .*two/.test(call) ? refusal(409, "TabularProtected", "Table is protected") : undefined;
    await expect(tables.delete(warehouseId, outs)).rejects.toThrow(
      /could not be unregistered:\nmain.default.two: .*409 TabularProtected - Table is protected/,
    );
    expect(Object.keys(await live())).toEqual(["main.default.two"]);
  });
});

test("bad pointers and settings are refused in the preview; what is not known yet is not", async () => {
  const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
  const pointer = "s3://elsewhere/t/metadata/00001-a.metadata.json";
  const news = { ...inputs({}), tables: { "main.default.t": pointer } };
  expect((await tables.check({}, news)).failures).toEqual([
    {
      property: "",
      reason: `main.default.t: its metadata location ${pointer} is not inside the warehouse s3://lakehouse/warehouse.`,
    },
  ]);
  expect((await tables.check({}, { ...news, location: UNKNOWN })).failures).toEqual([]);
  expect((await tables.check({}, { ...inputs({}), concurrency: 0 })).failures).toEqual([
    { property: "", reason: "concurrency must be 1 to 32, not 0" },
  ]);
});

test("another warehouse replaces the resource; a new connection is written through", async () => {
  const one = await write("one", 1);
  const outs = await create({ one });
  const replaced = { changes: true, replaces: ["warehouseId"], deleteBeforeReplace: true };
  expect(await diff(outs, { ...inputs({ one }), warehouseId: "another" })).toEqual(replaced);
  const news = {
    ...inputs({ one }),
    connection: { ...catalog.connection, identity: { kind: "token" as const, token: "x" } },
  };
  expect(await diff(outs, news)).toEqual(SOME);
  catalog.proxy.reset();
  expect((await tables.update(warehouseId, outs, news)).outs).toEqual({ ...outs, connection: news.connection });
  expect(catalog.proxy.calls).toEqual([]);
});
