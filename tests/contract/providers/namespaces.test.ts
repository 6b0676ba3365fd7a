import { IcebergCatalog } from "../../../clients/iceberg.ts";
import { withCatalog } from "../../../clients/lakekeeper.ts";
import bootstrap from "../../../providers/bootstrap.provider.ts";
import namespaces, { type NamespacesInputs, type NamespacesOutputs } from "../../../providers/namespaces.provider.ts";
import type { PartialFailure } from "../../../providers/provider.ts";
import warehouse from "../../../providers/warehouse.provider.ts";
import { r2Credential, TestCatalog, writeMetadata } from "../../support/catalog.ts";
import { refusal } from "../../support/proxy.ts";

let catalog: TestCatalog;
let warehouseId: string;
/** Progress that the provider tells. */
const said: string[] = [];

beforeAll(async () => {
  catalog = await TestCatalog.start();
  await bootstrap.create({ connection: catalog.connection });
  const made = await warehouse.create({
    connection: catalog.connection,
    name: "lakehouse",
    storageProfile: { bucket: "lakehouse", region: "auto", endpoint: catalog.r2.url },
    storageCredential: r2Credential(),
  });
  warehouseId = made.id;
});
afterAll(() => catalog.stop());

beforeEach(() => {
  said.length = 0;
  jest.spyOn(console, "log").mockImplementation((line: string) => void said.push(line));
});
afterEach(async () => {
  jest.restoreAllMocks();
  catalog.proxy.reset();
  await iceberg(async (all) => {
    for (const namespace of (await all.descendants()).reverse()) {
      for (const table of await all.tables(namespace)) await all.unregisterTable(table);
      await all.dropNamespace(namespace);
    }
  });
});

const iceberg = <T>(work: (catalog: IcebergCatalog) => Promise<T>): Promise<T> =>
  withCatalog(catalog.connection, (http) => work(new IcebergCatalog(http, warehouseId)));
const live = async (): Promise<string[]> =>
  (await iceberg((all) => all.descendants())).map((namespace) => namespace.join(".")).sort();
const inputs = (...names: string[]): NamespacesInputs => ({
  connection: catalog.connection,
  warehouse: "lakehouse",
  warehouseId,
  namespaces: names,
});
const create = async (...names: string[]): Promise<NamespacesOutputs> =>
  (await namespaces.create(inputs(...names))).outs;
const diff = (olds: NamespacesOutputs, news: NamespacesInputs) => namespaces.diff(warehouseId, olds, news);
const NONE = { changes: false };
const SOME = { changes: true };

test("parents are made first, and nothing differs afterwards", async () => {
  const outs = await create("main.test", "main.default", "other");
  expect(await live()).toEqual(["main", "main.default", "main.test", "other"]);
  expect([...outs.owned].sort()).toEqual(["main", "main.default", "main.test", "other"]);
  expect(await diff(outs, inputs("other", "main.default", "main.test"))).toEqual(NONE);
  expect((await namespaces.read(warehouseId, outs)).props).toEqual(outs);
});

test("what others have made is adopted and stays; ours goes, children first", async () => {
  await iceberg((all) => all.createNamespace(["main"]));
  const outs = await create("main.default", "mine");
  expect(outs.owned).toEqual(["mine", "main.default"]);
  await namespaces.delete(warehouseId, outs);
  expect(await live()).toEqual(["main"]);
  await namespaces.delete(warehouseId, outs);
});

test("what we made is known as ours when the state is lost", async () => {
  const first = await create("main.default");
  expect((await create("main.default")).owned).toEqual(first.owned);
});

test("one that someone makes at the same moment is adopted", async () => {
  catalog.proxy.fault = (call) => (call.startsWith("POST") ? refusal(409, "AlreadyExistsException") : undefined);
  const outs = await create("main");
  expect(outs).toMatchObject({ namespaces: ["main"], owned: [] });
});

test("an answer that is lost makes no stranger of what was made", async () => {
  let lost = 1;
  catalog.proxy.fault = (call) => (call.startsWith("POST") && lost-- > 0 ? "lose" : undefined);
  expect(await create("main")).toMatchObject({ namespaces: ["main"], owned: ["main"] });
});

test("a failure in the middle keeps what was made, and the next update makes the rest", async () => {
  catalog.proxy.fault = (_call, body) => (body.includes('"test"') ? refusal(500, "InternalServerError") : undefined);
  const failure = (await create("main.default", "main.test").catch(
    (error: unknown) => error,
  )) as PartialFailure<NamespacesOutputs>;
  expect(failure).toMatchObject({ id: warehouseId, reasons: [expect.stringContaining("500 InternalServerError")] });
  expect(failure.properties).toMatchObject({ namespaces: ["main.default"], owned: ["main", "main.default"] });

  catalog.proxy.reset();
  const news = inputs("main.default", "main.test");
  expect(await diff(failure.properties, news)).toEqual(SOME);
  await namespaces.update(warehouseId, failure.properties, news);
  expect(await live()).toEqual(["main", "main.default", "main.test"]);
});

test("a namespace dropped by hand is made again", async () => {
  const outs = await create("main.default");
  await iceberg((all) => all.dropNamespace(["main", "default"]));
  const seen = (await namespaces.read(warehouseId, outs)).props!;
  expect(seen).toMatchObject({ namespaces: [], owned: ["main"] });
  expect(await diff(seen, inputs("main.default"))).toEqual(SOME);
  const after = (await namespaces.update(warehouseId, seen, inputs("main.default"))).outs;
  expect(await live()).toEqual(["main", "main.default"]);
  expect([...after.owned].sort()).toEqual(["main", "main.default"]);
});

test("one no longer wanted is dropped when it is empty and ours", async () => {
  await iceberg((all) => all.createNamespace(["theirs"]));
  const outs = await create("main.default", "main.test", "theirs");
  const after = await namespaces.update(warehouseId, outs, inputs("main.default"));
  expect(await live()).toEqual(["main", "main.default", "theirs"]);
  expect([...after.outs.owned].sort()).toEqual(["main", "main.default"]);
});

test("one that holds tables is left with the reason, and dropped by a later change", async () => {
  const outs = await create("main.default", "main.test");
  const { pointer } = await writeMetadata(catalog.bucket, { table: "main.test.t1", version: 1 });
  await iceberg((all) => all.registerTable({ namespace: ["main", "test"], name: "t1" }, pointer));

  const news = inputs("main.default");
  const after = (await namespaces.update(warehouseId, outs, news)).outs;
  expect(said).toEqual([
    expect.stringContaining("main.test is no longer wanted but was left, since it is not empty: tables main.test.t1"),
  ]);
  expect(after.owned).toContain("main.test");
  expect(await diff(after, news)).toEqual(NONE);

  await iceberg((all) => all.unregisterTable({ namespace: ["main", "test"], name: "t1" }));
  await namespaces.update(warehouseId, after, news);
  expect(await live()).toEqual(["main", "main.default"]);
});

test("deleting refuses where others have tables, names them, and drops the rest", async () => {
  const outs = await create("main.default", "main.test");
  for (const name of ["a", "b", "c", "d", "e", "f"]) {
    const { pointer } = await writeMetadata(catalog.bucket, { table: `main.test.${name}`, version: 1 });
    await iceberg((all) => all.registerTable({ namespace: ["main", "test"], name }, pointer));
  }
  await expect(namespaces.delete(warehouseId, outs)).rejects.toThrow(
    /not empty: main.test \(tables (main\.test\.\w, ){4}main\.test\.\w and 1 more\); main \(namespaces main.test\)/,
  );
  expect(await live()).toEqual(["main", "main.test"]);
});

test("another warehouse replaces the resource; a new connection is written through", async () => {
  const outs = await create("main");
  const replaced = { changes: true, replaces: ["warehouseId"], deleteBeforeReplace: true };
  expect(await diff(outs, { ...inputs("main"), warehouseId: "another" })).toEqual(replaced);
  const news = {
    ...inputs("main"),
    connection: { ...catalog.connection, identity: { kind: "token" as const, token: "x" } },
  };
  expect(await diff(outs, news)).toEqual(SOME);
  expect((await namespaces.update(warehouseId, outs, news)).outs).toEqual({ ...outs, connection: news.connection });
});

test("gone with its warehouse, but not because of a 404 from an old state", async () => {
  const outs = await create("main");
  const stale = refusal(404, "NoSuchWarehouseException");
  catalog.proxy.fault = (call) => (call.startsWith("GET /catalog") ? stale : undefined);
  await expect(namespaces.read(warehouseId, outs)).rejects.toThrow("NoSuchWarehouseException");

  catalog.proxy.reset();
  const elsewhere = { ...outs, warehouseId: "00000000-0000-0000-0000-00000000dead" };
  expect(await namespaces.read(elsewhere.warehouseId, elsewhere)).toEqual({});
  await namespaces.delete(elsewhere.warehouseId, elsewhere);
});

test("a server that does not answer leaves the state as it is", async () => {
  const outs = await create("main");
  catalog.proxy.fault = () => "cut";
  expect(await namespaces.read(warehouseId, outs)).toEqual({ id: warehouseId, props: outs });
});

test("bad names are refused in the preview", async () => {
  const news = inputs("main", "a..b", "a.b.c.d.e.f", "Main", "a+b");
  const { failures } = await namespaces.check({}, news);
  expect(failures.map(({ reason }) => reason)).toEqual([
    'namespaces.1 must be a dotted name of one to five levels, none of them empty and none with a +, not "a..b"',
    'namespaces.2 must be a dotted name of one to five levels, none of them empty and none with a +, not "a.b.c.d.e.f"',
    'namespaces.4 must be a dotted name of one to five levels, none of them empty and none with a +, not "a+b"',
    "namespaces.3 is there twice: Lakekeeper takes main and Main for one. Keep one in lakekeeper:namespaces",
  ]);
});
