import { bucketOf, type Client, type Reply } from "./client.ts";
import { eventually, inDefault, schema, startTableWorld, type TableWorld } from "./tableWorld.ts";

// What a warehouse may be told about its content: what is protected, what is taken, what becomes of what is dropped.

let tables: TableWorld;
let call: Client;
beforeAll(async () => {
  tables = await startTableWorld();
  call = tables.call;
});
afterAll(() => tables.close());

const told = ({ status, type }: Reply): unknown[] => [status, type];

describe("protection", () => {
  test("of a table and of a namespace is overcome by force only", async () => {
    const warehouse = await tables.makeWarehouse("protected");
    const namespaces = `/catalog/v1/${warehouse}/namespaces`;
    const made = await call("POST", `/catalog/v1/${warehouse}/${inDefault}/tables`, { name: "t", schema });
    const tableId = (made.body as { metadata: { "table-uuid": string } }).metadata["table-uuid"];
    const { body } = await call("GET", `${namespaces}/main%1Fdefault`);
    const namespaceId = (body as { properties: { namespace_id: string } }).properties.namespace_id;
    const management = `/management/v1/warehouse/${warehouse}`;
    for (const path of [`table/${tableId}`, `namespace/${namespaceId}`]) {
      const protection = `${management}/${path}/protection`;
      expect((await call("GET", protection)).body).toMatchObject({ protected: false });
      expect((await call("POST", protection, { protected: true })).status).toBe(200);
      expect((await call("GET", protection)).body).toMatchObject({ protected: true });
    }
    for (const method of ["GET", "POST"]) {
      const asView = await call(
        method,
        `${management}/view/${tableId}/protection`,
        method === "GET" ? undefined : { protected: true },
      );
      expect(asView.status).toBe(404);
    }
    const table = `/catalog/v1/${warehouse}/${inDefault}/tables/t?purgeRequested=false`;
    expect((await call("DELETE", table)).status).toBe(409);
    expect((await call("DELETE", `${table}&force=true`)).status).toBe(204);
    expect((await call("DELETE", `${namespaces}/main%1Fdefault`)).status).toBe(409);
    expect((await call("DELETE", `${namespaces}/main%1Fdefault?force=true`)).status).toBe(204);
  });
});

describe("format versions", () => {
  const create = (warehouse: string, name: string, version?: string): Promise<Reply> =>
    call("POST", `/catalog/v1/${warehouse}/${inDefault}/tables`, {
      name,
      schema,
      ...(version !== undefined && { properties: { "format-version": version } }),
    });
  const upgrade = { requirements: [], updates: [{ action: "upgrade-format-version", "format-version": 3 }] };

  test("that a warehouse does not take are refused, in new tables and in commits", async () => {
    const warehouse = await tables.makeWarehouse("versions", { "allowed-format-versions": [2, 1] });
    const shown = await call("GET", `/management/v1/warehouse/${warehouse}`);
    expect((shown.body as { "allowed-format-versions": number[] })["allowed-format-versions"]).toEqual([1, 2]);
    expect(told(await create(warehouse, "three", "3"))).toEqual([400, "FormatVersionNotAllowed"]);
    expect((await create(warehouse, "two")).status).toBe(200);
    const two = `/catalog/v1/${warehouse}/${inDefault}/tables/two`;
    expect(told(await call("POST", two, upgrade))).toEqual([400, "FormatVersionNotAllowed"]);
    const policy = `/management/v1/warehouse/${warehouse}/format-version-policy`;
    expect((await call("POST", policy, { "allowed-format-versions": [3] })).status).toBe(200);
    expect((await call("POST", two, upgrade)).status).toBe(200);
    const { body } = await create(warehouse, "newest");
    expect((body as { metadata: object }).metadata).toMatchObject({ "format-version": 3 });
  });

  test.each([
    ["none", [], 400],
    ["an unknown one", [4], 422],
    ["a text", ["2"], 422],
  ])("of a policy cannot be %s", async (_what, versions, status) => {
    const policy = `/management/v1/warehouse/${tables.catalog.split("/").at(-1)}/format-version-policy`;
    expect((await call("POST", policy, { "allowed-format-versions": versions })).status).toBe(status);
  });
});

describe("soft deletion", () => {
  const soft = (seconds: number): object => ({ "delete-profile": { type: "soft", "expiration-seconds": seconds } });

  test("ends with the grace period, and deletes the files unless it was told not to", async () => {
    const warehouse = await tables.makeWarehouse("expiring", soft(1) as never);
    const path = `/catalog/v1/${warehouse}/${inDefault}/tables`;
    const locations: string[] = [];
    for (const name of ["purged", "kept"]) {
      const { body } = await call("POST", path, { name, schema });
      locations.push((body as { metadata: { location: string } }).metadata.location);
    }
    await call("DELETE", `${path}/purged`);
    await call("DELETE", `${path}/kept?purgeRequested=false`);
    const files = (location: string): Promise<string[]> => bucketOf(tables.world).list(location);
    await eventually(async () => (await files(locations[0]!)).length === 0);
    const tasks = async (): Promise<unknown[]> =>
      ((await call("POST", `/management/v1/warehouse/${warehouse}/task/list`, {})).body as { tasks: unknown[] }).tasks;
    await eventually(async () => (await tasks()).length === 0);
    expect(await files(locations[1]!)).toHaveLength(1);
    const { body } = await call("GET", `/management/v1/warehouse/${warehouse}/deleted-tabulars`);
    expect(body).toEqual({ tabulars: [] });
  });

  test("is listed by namespace, too", async () => {
    const warehouse = await tables.makeWarehouse("listed", soft(3600) as never);
    const catalog = `/catalog/v1/${warehouse}`;
    for (const namespace of ["namespaces/main", inDefault]) {
      await call("POST", `${catalog}/${namespace}/tables`, { name: "t", schema });
      await call("DELETE", `${catalog}/${namespace}/tables/t`);
    }
    const { body } = await call("GET", `${catalog}/namespaces/main`);
    const { namespace_id: id } = (body as { properties: { namespace_id: string } }).properties;
    const deleted = async (query: string): Promise<unknown> => {
      const reply = await call("GET", `/management/v1/warehouse/${warehouse}/deleted-tabulars${query}`);
      return (reply.body as { tabulars?: { namespace: string[] }[] }).tabulars?.map(({ namespace }) => namespace);
    };
    expect(await deleted("")).toEqual([["main"], ["main", "default"]]);
    expect(await deleted(`?namespaceId=${id}`)).toEqual([["main"]]);
    expect(await deleted("?namespaceId=nothing")).toBeUndefined();
  });

  test("cannot be taken back once the name is another table's", async () => {
    const warehouse = await tables.makeWarehouse("reused", soft(3600) as never);
    const path = `/catalog/v1/${warehouse}/${inDefault}/tables`;
    const made = await call("POST", path, { name: "t", schema });
    const { "table-uuid": id } = (made.body as { metadata: { "table-uuid": string } }).metadata;
    await call("DELETE", `${path}/t`);
    expect((await call("POST", path, { name: "T", schema })).status).toBe(200);
    const undrop = await call("POST", `/management/v1/warehouse/${warehouse}/deleted-tabulars/undrop`, {
      targets: [{ type: "table", id }],
    });
    expect(told(undrop)).toEqual([409, "AlreadyExistsException"]);
  });
});
