import { bucketOf } from "./client.ts";
import { eventually, inDefault, schema, startTableWorld, type TableWorld } from "./tableWorld.ts";

let tables: TableWorld;
beforeAll(async () => {
  tables = await startTableWorld();
});
afterAll(() => tables.close());

describe("dropping", () => {
  const files = (location: string): Promise<string[]> => bucketOf(tables.world).list(location);

  it("keeps the files when told to", async () => {
    const { location } = await tables.register("unregistered");
    expect(
      (await tables.call("DELETE", `${tables.catalog}/${inDefault}/tables/unregistered?purgeRequested=False`)).status,
    ).toBe(204);
    expect((await tables.call("HEAD", `${tables.catalog}/${inDefault}/tables/unregistered`)).status).toBe(404);
    expect(await files(location)).toHaveLength(1);
  });

  it("deletes the files when not told otherwise, and the warehouse only after that", async () => {
    const id = await tables.makeWarehouse("purged");
    const path = `/catalog/v1/${id}/${inDefault}`;
    const made = await tables.call("POST", `${path}/tables`, { name: "t", schema });
    const { location } = (made.body as { metadata: { location: string } }).metadata;
    expect(await files(location)).toHaveLength(1);
    await tables.call("DELETE", `${path}/tables/t`);
    await eventually(async () => (await files(location)).length === 0);
    await tables.call("DELETE", `/catalog/v1/${id}/namespaces/main?recursive=true`);
    await eventually(async () => (await tables.call("DELETE", `/management/v1/warehouse/${id}`)).status === 204);
  });

  it("can be taken back while the warehouse deletes softly", async () => {
    const id = await tables.makeWarehouse("soft", { "delete-profile": { type: "soft", "expiration-seconds": 3600 } });
    const path = `/catalog/v1/${id}/${inDefault}/tables`;
    await tables.call("POST", path, { name: "t", schema });
    await tables.call("DELETE", `${path}/t`);
    const deleted = (await tables.call("GET", `/management/v1/warehouse/${id}/deleted-tabulars`)).body as {
      tabulars: { id: string; name: string }[];
    };
    expect(deleted.tabulars.map((tabular) => tabular.name)).toEqual(["t"]);
    const tasks = (await tables.call("POST", `/management/v1/warehouse/${id}/task/list`, {})).body;
    expect(tasks).toMatchObject({
      tasks: [{ "queue-name": "tabular_expiration", "entity-name": ["main", "default", "t"] }],
    });
    expect((await tables.call("DELETE", `/management/v1/warehouse/${id}`)).type).toBe("WarehouseHasUnfinishedTasks");
    const targets = [{ type: "table", id: deleted.tabulars[0]!.id }];
    expect(
      (await tables.call("POST", `/management/v1/warehouse/${id}/deleted-tabulars/undrop`, { targets })).status,
    ).toBe(204);
    expect((await tables.call("HEAD", `${path}/t`)).status).toBe(204);
  });
});

describe("namespaces", () => {
  it.each([
    ["a level with a dot", ["a.b"], 400, "NamespacePartContainsDot"],
    ["a level with nothing in it", ["a", ""], 400, "NamespacePartEmpty"],
    ["too many levels", ["a", "b", "c", "d", "e", "f"], 400, "NamespaceDepthExceeded"],
    ["a reserved name", ["system"], 400, "ReservedNamespace"],
    ["a name that is there in other letters", ["MAIN"], 409, "AlreadyExistsException"],
    ["a child without its parent", ["orphan", "child"], 404, "NoSuchNamespaceException"],
  ])("cannot have %s", async (_what, namespace, status, type) => {
    const reply = await tables.call("POST", `${tables.catalog}/namespaces`, { namespace });
    expect([reply.status, reply.type]).toEqual([status, type]);
  });

  it("are listed in pages", async () => {
    const id = await tables.makeWarehouse("paged");
    for (const name of ["a", "b", "c"])
      await tables.call("POST", `/catalog/v1/${id}/namespaces`, { namespace: ["main", name] });
    const seen: string[] = [];
    let token = "";
    do {
      const page = await tables.call("GET", `/catalog/v1/${id}/namespaces?parent=main&pageSize=3&pageToken=${token}`);
      const body = page.body as { namespaces: string[][]; "next-page-token"?: string };
      seen.push(...body.namespaces.map((namespace) => namespace.at(-1)!));
      token = body["next-page-token"] ?? "";
    } while (token !== "");
    expect(seen).toEqual(["default", "a", "b", "c"]);
  });
});
