import { withCatalog, Lakekeeper, type WireWarehouse } from "../../../clients/lakekeeper.ts";
import { IcebergCatalog } from "../../../clients/iceberg.ts";
import { clock } from "../../../clients/retry.ts";
import bootstrap from "../../../providers/bootstrap.provider.ts";
import warehouse from "../../../providers/warehouse.provider.ts";
import type { WarehouseInputs, WarehouseOutputs } from "../../../providers/warehouse.converge.ts";
import { r2Credential, TestCatalog } from "../../support/catalog.ts";
import { refusal } from "../../support/proxy.ts";

let catalog: TestCatalog;
const realSleep = clock.sleep;

beforeAll(async () => {
  catalog = await TestCatalog.start();
  await bootstrap.create({ connection: catalog.connection });
});
afterAll(() => catalog.stop());

/** Progress that the provider tells. */
const said: string[] = [];

beforeEach(() => {
  said.length = 0;
  jest.spyOn(console, "log").mockImplementation((line: string) => void said.push(line));
  // Waits are as many as in earnest, but short.
  clock.sleep = (milliseconds) => realSleep(Math.min(milliseconds, 100));
});
afterEach(async () => {
  catalog.proxy.reset();
  await manage(async (lakekeeper) => {
    for (const { "warehouse-id": id, ...rest } of await lakekeeper.warehouses()) {
      if (rest.status === "inactive") await lakekeeper.activateWarehouse(id);
      await warehouse.delete(id, { ...inputs(), name: rest.name } as WarehouseOutputs);
    }
  });
  clock.sleep = realSleep;
  jest.restoreAllMocks();
});

const manage = <T>(work: (lakekeeper: Lakekeeper) => Promise<T>): Promise<T> =>
  withCatalog(catalog.connection, (http) => work(new Lakekeeper(http)));
const inCatalog = <T>(id: string, work: (iceberg: IcebergCatalog) => Promise<T>): Promise<T> =>
  withCatalog(catalog.connection, (http) => work(new IcebergCatalog(http, id)));
const live = async (id: string): Promise<WireWarehouse> => (await manage((lakekeeper) => lakekeeper.warehouse(id)))!;

function inputs(
  changes: Partial<WarehouseInputs> = {},
  profile: Partial<WarehouseInputs["storageProfile"]> = {},
): WarehouseInputs {
  return {
    connection: catalog.connection,
    name: "lakehouse",
    storageProfile: {
      bucket: "lakehouse",
      keyPrefix: "warehouse",
      region: "auto",
      endpoint: catalog.r2.url,
      ...profile,
    },
    storageCredential: r2Credential(),
    ...changes,
  };
}

const create = async (news = inputs()): Promise<WarehouseOutputs> => (await warehouse.create(news)).outs;
const diff = (olds: WarehouseOutputs, news: WarehouseInputs) => warehouse.diff(olds.warehouseId, olds, news);
const update = async (olds: WarehouseOutputs, news: WarehouseInputs): Promise<WarehouseOutputs> =>
  (await warehouse.update(olds.warehouseId, olds, news)).outs;
const refreshed = async (olds: WarehouseOutputs): Promise<WarehouseOutputs> =>
  (await warehouse.read(olds.warehouseId, olds)).props!;
const NONE = { changes: false };
const SOME = { changes: true };

describe("create", () => {
  test("makes a warehouse as asked for, and then nothing differs, also after a refresh", async () => {
    const outs = await create();
    expect(await live(outs.warehouseId)).toMatchObject({
      name: "lakehouse",
      status: "active",
      "delete-profile": { type: "hard" },
    });
    expect(await diff(outs, inputs())).toEqual(NONE);
    expect(await refreshed(outs)).toEqual(outs);
  });

  test("spellings that mean the same are no change", async () => {
    const outs = await create();
    const spelled = inputs(
      { deleteProfile: { type: "hard" } },
      {
        endpoint: `${catalog.r2.url}/lakehouse/`,
        keyPrefix: "/warehouse/",
        stsTokenValiditySeconds: 3600,
        pathStyleAccess: true,
      },
    );
    expect(await diff(outs, spelled)).toEqual(NONE);
  });

  test("with an access key, where the store offers STS", async () => {
    const { accessKeyId, secretAccessKey } = r2Credential();
    const news = inputs({ storageCredential: { type: "access-key", accessKeyId, secretAccessKey } });
    const outs = await create(news);
    expect((await live(outs.warehouseId))["storage-credential-type"]).toMatchObject({
      "credential-type": "access-key",
    });
    expect(await diff(await refreshed(outs), news)).toEqual(NONE);
    expect(await diff(outs, inputs())).toEqual(SOME);
  });

  test("soft delete and protection are set from the start", async () => {
    const news = inputs({ deleteProfile: { type: "soft", expirationSeconds: 3600 }, protected: true });
    const outs = await create(news);
    expect(await live(outs.warehouseId)).toMatchObject({
      protected: true,
      "delete-profile": { type: "soft", "expiration-seconds": 3600 },
    });
    expect(await diff(await refreshed(outs), news)).toEqual(NONE);
    await update(outs, { ...news, protected: false });
  });

  test("a bucket that is not there yet is tried again, and told", async () => {
    let refusals = 2;
    catalog.proxy.fault = (call) =>
      call.startsWith("POST /management/v1/warehouse") && refusals-- > 0 ? refusal(400, "NotFound") : undefined;
    await create();
    expect(said).toEqual([
      "the storage does not work yet (NotFound); trying again in 2 s",
      "the storage does not work yet (NotFound); trying again in 4 s",
    ]);
  });

  test("a bucket that never comes is named, after five tries", async () => {
    await expect(create(inputs({}, { bucket: "no-such-bucket" }))).rejects.toThrow(
      /400 NotFound .*See that the bucket "no-such-bucket" exists at http/,
    );
    expect(catalog.proxy.count(/^POST/)).toBe(5);
  });

  test("a token that Cloudflare refuses is named by its id, never by its value", async () => {
    const stranger = { id: "9".repeat(32), value: "value-that-nobody-knows" };
    const message = await create(inputs({ storageCredential: r2Credential(stranger) })).then(
      () => "it was taken",
      (error: Error) => error.message,
    );
    expect(message).toContain(stranger.id);
    expect(message).not.toContain(stranger.value);
    expect(message).not.toContain(r2Credential(stranger).secretAccessKey);
  });

  test("a place that another warehouse has is refused at once, with the way out", async () => {
    await create();
    catalog.proxy.reset();
    await expect(create(inputs({ name: "other" }, { keyPrefix: "warehouse/inner" }))).rejects.toThrow(
      /overlaps with existing warehouse lakehouse.*Use the name of that one to adopt it, or another keyPrefix/,
    );
    expect(catalog.proxy.count(/^POST/)).toBe(1);
  });

  test("an answer that is lost orphans nothing: the warehouse is found by its name", async () => {
    catalog.proxy.fault = (call) => (call === "POST /management/v1/warehouse" ? "lose" : undefined);
    const outs = await create();
    expect((await manage((lakekeeper) => lakekeeper.warehouses())).map((found) => found["warehouse-id"])).toEqual([
      outs.warehouseId,
    ]);
    expect(await diff(outs, inputs())).toEqual(NONE);
  });

  test("what fails after the warehouse is made keeps it, and the next update finishes", async () => {
    catalog.proxy.fault = (call) => (call.endsWith("/protection") ? refusal(500, "InternalServerError") : undefined);
    const news = inputs({ protected: true });
    const failure = (await create(news).catch((error: unknown) => error)) as {
      id: string;
      properties: WarehouseOutputs;
    };
    expect(failure).toMatchObject({ reasons: [expect.stringContaining("/protection: 500 InternalServerError")] });
    expect(failure.properties).toMatchObject({ warehouseId: failure.id, protected: false });

    catalog.proxy.reset();
    expect(await diff(failure.properties, news)).toEqual(SOME);
    const outs = await update(failure.properties, news);
    expect((await live(failure.id)).protected).toBe(true);
    await update(outs, { ...news, protected: false });
  });
});

describe("adoption", () => {
  test("by name in any case: renamed, given our credential and profile, under the id it has", async () => {
    const before = await create(inputs({ name: "LakeHouse" }, { stsTokenValiditySeconds: 900 }));
    const outs = await create();
    expect(outs.warehouseId).toBe(before.warehouseId);
    expect(await live(outs.warehouseId)).toMatchObject({
      name: "lakehouse",
      "storage-profile": { "sts-token-validity-seconds": 3600 },
    });
    expect(await diff(await refreshed(outs), inputs())).toEqual(NONE);
  });

  test("a deactivated one is activated, and the old state that the server still has is waited out", async () => {
    const { warehouseId } = await create();
    // Loads the state into the server's memory, where it stays for a while.
    await inCatalog(warehouseId, (iceberg) => iceberg.namespaces());
    await manage((lakekeeper) => lakekeeper.deactivateWarehouse(warehouseId));
    await realSleep(2_100);
    await inCatalog(warehouseId, (iceberg) => iceberg.namespaces()).catch(() => undefined);

    const outs = await create();
    expect(outs).toMatchObject({ warehouseId, status: "active" });
    expect(await inCatalog(warehouseId, (iceberg) => iceberg.namespaces())).toEqual([]);
  });

  test("one of that name in another place is left alone", async () => {
    const { warehouseId } = await create(inputs({}, { keyPrefix: "someone-elses" }));
    await expect(create()).rejects.toThrow(
      `already has a warehouse "lakehouse" (${warehouseId}), on s3://lakehouse/someone-elses, not on s3://lakehouse/warehouse`,
    );
    expect((await live(warehouseId))["storage-profile"]["key-prefix"]).toBe("someone-elses");
  });
});

describe("update", () => {
  test("a new lifetime sends the profile with the credential, and the warehouse keeps vending", async () => {
    const outs = await create();
    const news = inputs({}, { stsTokenValiditySeconds: 1800 });
    expect(await diff(outs, news)).toEqual(SOME);
    catalog.proxy.reset();
    const after = await update(outs, news);
    const sent = catalog.proxy.calls.find(({ call }) => call.endsWith("/storage"))!;
    expect(JSON.parse(sent.body)).toMatchObject({
      "storage-profile": { "sts-token-validity-seconds": 1800 },
      "storage-credential": { "credential-type": "cloudflare-r2", token: r2Credential().token },
    });
    expect(await diff(await refreshed(after), news)).toEqual(NONE);
  });

  test("a new credential goes to its own endpoint and is known by its hash", async () => {
    const outs = await create();
    const second = { id: "1".repeat(32), value: "value-of-the-second-token", permission: "admin-read-write" as const };
    catalog.r2.addToken(second);
    const news = inputs({ storageCredential: r2Credential(second) });
    expect(await diff(outs, news)).toEqual(SOME);
    catalog.proxy.reset();
    const after = await update(outs, news);
    expect(catalog.proxy.count(/\/storage-credential$/)).toBe(1);
    expect(catalog.proxy.count(/\/storage$/)).toBe(0);
    expect(after.credentialHash).not.toBe(outs.credentialHash);
    expect(after.credentialHash).not.toContain(second.value);
    expect(await diff(after, news)).toEqual(NONE);
  });

  test("a credential that does not work keeps the old one in state, so that the next run tries again", async () => {
    const outs = await create();
    const news = inputs({ storageCredential: r2Credential({ id: "9".repeat(32), value: "nobody-knows-this" }) });
    const failure = (await update(outs, news).catch((error: unknown) => error)) as { properties: WarehouseOutputs };
    expect(failure.properties.credentialHash).toBe(outs.credentialHash);
    expect(await diff(failure.properties, news)).toEqual(SOME);
  });

  test("name and delete profile change in place", async () => {
    const outs = await create();
    const news = inputs({ name: "renamed", deleteProfile: { type: "soft", expirationSeconds: 86_400 } });
    const after = await update(outs, news);
    expect(await live(outs.warehouseId)).toMatchObject({
      name: "renamed",
      "delete-profile": { type: "soft", "expiration-seconds": 86_400 },
    });
    expect(await diff(await refreshed(after), news)).toEqual(NONE);
  });

  test("a 404 from an old state is not taken for gone", async () => {
    const outs = await create();
    let stale = 3;
    catalog.proxy.fault = (call) =>
      !call.startsWith("GET /management/v1/warehouse?") && stale-- > 0
        ? refusal(404, "NoSuchWarehouseException")
        : undefined;
    await update(outs, inputs({ name: "renamed" }));
    expect((await live(outs.warehouseId)).name).toBe("renamed");
  });

  test("a warehouse that has been deleted by hand is said to be, with what to run", async () => {
    const outs = await create();
    await manage((lakekeeper) => lakekeeper.deleteWarehouse(outs.warehouseId));
    await expect(update(outs, inputs({ name: "renamed" }))).rejects.toThrow(
      /no longer in Lakekeeper.*pulumi up --refresh/,
    );
  });

  test.each([
    [
      "bucket",
      { bucket: "elsewhere" },
      /^lakekeeper:bucket cannot change from "lakehouse" to "elsewhere".*Set lakekeeper:bucket back to "lakehouse".*lakekeeper:allowReplace: true/,
    ],
    [
      "keyPrefix",
      { keyPrefix: "other" },
      /^lakekeeper:keyPrefix cannot change from "warehouse" to "other".*Set lakekeeper:keyPrefix back to "warehouse".*lakekeeper:allowReplace: true/,
    ],
  ])("the %s is refused in the preview, unless replacing is allowed", async (_field, change, words) => {
    const outs = await create();
    const news = inputs({}, change);
    const { failures } = await warehouse.check(inputs(), news);
    expect(failures).toEqual([{ property: "", reason: expect.stringMatching(words) as string }]);
    await expect(diff(outs, news)).rejects.toThrow(words);

    const allowed = { ...news, allowReplace: true };
    expect((await warehouse.check(inputs(), allowed)).failures).toEqual([]);
    expect(await diff(outs, allowed)).toEqual({
      changes: true,
      replaces: ["storageProfile"],
      deleteBeforeReplace: true,
    });
  });

  test("a new connection is written through", async () => {
    const outs = await create();
    const news = inputs({ connection: { ...catalog.connection, identity: { kind: "token", token: "not-needed" } } });
    expect(await diff(outs, news)).toEqual(SOME);
    catalog.proxy.reset();
    expect((await update(outs, news)).connection).toEqual(news.connection);
    expect(catalog.proxy.count(/^POST/)).toBe(0);
  });
});

describe("drift", () => {
  test("a warehouse renamed, deactivated and given another lifetime by hand is brought back", async () => {
    const outs = await create();
    const id = outs.warehouseId;
    await manage(async (lakekeeper) => {
      await lakekeeper.renameWarehouse(id, "by-hand");
      await lakekeeper.setProtection(id, true);
      await lakekeeper.deactivateWarehouse(id);
    });
    const seen = await refreshed(outs);
    expect(seen).toMatchObject({ name: "by-hand", status: "inactive" });
    const news = inputs({ protected: false });
    expect(await diff(seen, news)).toEqual(SOME);
    const after = await update(seen, news);
    expect(await live(id)).toMatchObject({ name: "lakehouse", status: "active", protected: false });
    expect(await diff(await refreshed(after), news)).toEqual(NONE);
  });

  test("protection that is not ours to decide is left as it is", async () => {
    const outs = await create();
    await manage((lakekeeper) => lakekeeper.setProtection(outs.warehouseId, true));
    expect(await diff(await refreshed(outs), inputs())).toEqual(NONE);
    await update(outs, inputs({ name: "renamed" }));
    expect((await live(outs.warehouseId)).protected).toBe(true);
    await manage((lakekeeper) => lakekeeper.setProtection(outs.warehouseId, false));
  });

  test("a warehouse deleted by hand is gone, one made anew under its name is found", async () => {
    const outs = await create();
    await manage((lakekeeper) => lakekeeper.deleteWarehouse(outs.warehouseId));
    expect(await warehouse.read(outs.warehouseId, outs)).toEqual({});
    const anew = await create();
    const found = await warehouse.read(outs.warehouseId, outs);
    expect(found.id).toBe(anew.warehouseId);
    // Nobody knows the credential it was made with.
    expect(await diff(found.props!, inputs())).toEqual(SOME);
  });

  test("one of its name in another place is not it", async () => {
    const outs = await create();
    await manage((lakekeeper) => lakekeeper.deleteWarehouse(outs.warehouseId));
    await create(inputs({}, { keyPrefix: "someone-elses" }));
    expect(await warehouse.read(outs.warehouseId, outs)).toEqual({});
  });

  test("a server that does not answer leaves the state as it is", async () => {
    const outs = await create();
    catalog.proxy.fault = () => "cut";
    expect(await warehouse.read(outs.warehouseId, outs)).toEqual({ id: outs.warehouseId, props: outs });
  });
});

describe("delete", () => {
  test("what is not there is deleted", async () => {
    const outs = await create();
    await warehouse.delete(outs.warehouseId, outs);
    await warehouse.delete(outs.warehouseId, outs);
    expect(await manage((lakekeeper) => lakekeeper.warehouses())).toEqual([]);
  });

  test("what others have put in is named and stays", async () => {
    const outs = await create();
    await inCatalog(outs.warehouseId, (iceberg) => iceberg.createNamespace(["theirs"]));
    await expect(warehouse.delete(outs.warehouseId, outs)).rejects.toThrow(
      /not empty: namespaces theirs.*somebody else's/,
    );
    expect((await live(outs.warehouseId)).name).toBe("lakehouse");
    await inCatalog(outs.warehouseId, (iceberg) => iceberg.dropNamespace(["theirs"]));
  });

  test("a protected one is refused, never forced", async () => {
    const outs = await create(inputs({ protected: true }));
    catalog.proxy.reset();
    await expect(warehouse.delete(outs.warehouseId, outs)).rejects.toThrow(/is protected.*protected: false/);
    expect(catalog.proxy.count(/force/)).toBe(0);
    await manage((lakekeeper) => lakekeeper.setProtection(outs.warehouseId, false));
  });

  test("unfinished tasks are waited for, and told", async () => {
    const outs = await create();
    let unfinished = 60;
    const now = clock.now;
    clock.now = () => now() + (60 - unfinished) * 1_000;
    catalog.proxy.fault = (call) => {
      if (call.startsWith("DELETE") && unfinished-- > 0) return refusal(409, "WarehouseHasUnfinishedTasks");
      if (call.endsWith("/task/list"))
        return { status: 200, body: { tasks: [{ "queue-name": "tabular_purge", status: "RUNNING" }] } };
      if (call.endsWith("/deleted-tabulars")) return { status: 200, body: { tabulars: [] } };
      return undefined;
    };
    await warehouse.delete(outs.warehouseId, outs);
    clock.now = now;
    expect(said[0]).toMatch(
      /^waiting for warehouse "lakehouse" to be deleted \(\d+ s, at most 600 s\): it has unfinished tasks: tabular_purge \(running\)$/,
    );
    expect(await manage((lakekeeper) => lakekeeper.warehouses())).toEqual([]);
  });

  test("tables that a soft delete keeps for days are not waited for", async () => {
    const outs = await create();
    const tabular = { id: "1", name: "t1", namespace: ["main", "default"], "expiration-date": "2099-01-01T00:00:00Z" };
    catalog.proxy.fault = (call) => {
      if (call.startsWith("DELETE")) return refusal(409, "WarehouseHasUnfinishedTasks");
      return call.endsWith("/deleted-tabulars") ? { status: 200, body: { tabulars: [tabular] } } : undefined;
    };
    await expect(warehouse.delete(outs.warehouseId, outs)).rejects.toThrow(
      /cannot be deleted before 2099-01-01T00:00:00Z: its delete profile keeps main.default.t1/,
    );
  });

  test("an inactive one is deleted too", async () => {
    const outs = await create();
    await manage((lakekeeper) => lakekeeper.deactivateWarehouse(outs.warehouseId));
    await warehouse.delete(outs.warehouseId, outs);
    expect(await manage((lakekeeper) => lakekeeper.warehouses())).toEqual([]);
  });
});
