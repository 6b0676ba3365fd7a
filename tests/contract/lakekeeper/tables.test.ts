import { type Json, type JsonObject, stringifyJson } from "../../../emulators/lakekeeper/http/json.ts";
import { IoError, S3Client } from "../../../emulators/lakekeeper/storage/s3.ts";
import { append, inDefault, snapshot, startTableWorld, type TableWorld } from "./tableWorld.ts";

let tables: TableWorld;
beforeAll(async () => {
  tables = await startTableWorld();
});
afterAll(() => tables.close());

describe("registering a table", () => {
  it("answers with metadata in the catalog's form, ids of 64 bits unharmed", async () => {
    const id = 9_007_199_254_740_993n;
    const { status, body } = await tables.register("wide", { "current-snapshot-id": id, snapshots: [snapshot(id, 1)] });
    expect(status).toBe(200);
    const { metadata } = body as { metadata: JsonObject };
    expect(metadata["current-snapshot-id"]).toBe(id);
    expect(metadata["refs"]).toEqual({ main: { "snapshot-id": id, type: "branch" } });
    expect(Object.keys(metadata)).not.toContain("statistics");
    expect(Object.keys(metadata)).not.toContain("properties");
  });

  it.each([
    [
      "a property that sends data elsewhere",
      { properties: { "write.data.path": "s3://lakehouse/x" } },
      409,
      "FailedToSetProperties",
    ],
    ["the warehouse itself as its place", { location: "s3://lakehouse/wh" }, 400, "InvalidLocation"],
    ["a place outside of the warehouse", { location: "s3://lakehouse/elsewhere/t" }, 400, "InvalidLocation"],
    ["a format version that does not exist", { "format-version": 9 }, 400, "Deserialization"],
  ])("refuses %s", async (what, more, status, type) => {
    const reply = await tables.register(what.replaceAll(" ", "-"), more);
    expect([reply.status, reply.type]).toEqual([status, type]);
  });

  it("tells by its name alone whether the file is compressed", async () => {
    const reply = await tables.register("plain", {}, "00000-a.gz.metadata.json");
    expect([reply.status, reply.type]).toEqual([424, "FileDecompression"]);
  });

  it("lets tables neither nest nor share a name in other letters", async () => {
    const outer = await tables.register("outer");
    const inner = await tables.register("inner", { location: `${outer.location}/inner` });
    expect([inner.status, inner.type]).toEqual([409, "LocationAlreadyTaken"]);
    const named = await tables.register("OUTER");
    expect([named.status, named.type]).toEqual([409, "AlreadyExistsException"]);
  });
});

describe("loading a table", () => {
  it("vends keys that reach the table and nothing else", async () => {
    const { location } = await tables.register("vended");
    const neighbour = await tables.register("neighbour");
    const { body } = await tables.call("GET", `${tables.catalog}/${inDefault}/tables/vended`);
    const [vended] = (
      body as unknown as { "storage-credentials": { prefix: string; config: Record<string, string> }[] }
    )["storage-credentials"];
    expect(vended!.prefix).toBe(location);
    const keys = {
      accessKeyId: vended!.config["s3.access-key-id"]!,
      secretAccessKey: vended!.config["s3.secret-access-key"]!,
      sessionToken: vended!.config["s3.session-token"]!,
    };
    const bucket = new S3Client(vended!.config["s3.endpoint"]!, vended!.config["s3.region"]!, keys);
    await bucket.write(`${location}/data/x`, Buffer.from("x"));
    expect((await bucket.read(`${location}/data/x`)).toString()).toBe("x");
    await expect(bucket.read(`${neighbour.location}/metadata/00003-a.metadata.json`)).rejects.toThrow(IoError);
  });

  it("hands out no keys to clients that bring their own", async () => {
    await tables.register("own");
    const { body } = await tables.call("GET", `${tables.catalog}/${inDefault}/tables/own`, undefined, {
      "x-iceberg-access-delegation": "client-managed",
    });
    expect(stringifyJson(body)).not.toContain("access-key-id");
    expect((body as { config: JsonObject }).config["s3.region"]).toBe("auto");
  });

  it("leaves out snapshots that nothing points to when asked", async () => {
    await tables.create("snapshots");
    await tables.commit("snapshots", append(1, 1));
    await tables.commit("snapshots", append(2, 2, 1));
    const ids = async (query: string): Promise<Json[]> => {
      const { body } = await tables.call("GET", `${tables.catalog}/${inDefault}/tables/snapshots${query}`);
      const { metadata } = body as { metadata: { snapshots: JsonObject[] } };
      return metadata.snapshots.map((entry) => entry["snapshot-id"]!);
    };
    expect(await ids("")).toEqual([1, 2]);
    expect(await ids("?snapshots=refs")).toEqual([2]);
  });

  it("is spared when the client's copy is fresh", async () => {
    await tables.register("cached");
    const path = `${tables.catalog}/${inDefault}/tables/cached`;
    const etag = (await tables.call("GET", path)).headers.get("etag")!;
    expect((await tables.call("GET", path, undefined, { "if-none-match": etag })).status).toBe(304);
    await tables.commit("cached", [{ action: "set-properties", updates: { a: "b" } }]);
    expect((await tables.call("GET", path, undefined, { "if-none-match": etag })).status).toBe(200);
  });

  it("fails when the credential was stored under another key", async () => {
    await tables.register("secret");
    const other = await tables.start({ LAKEKEEPER__PG_ENCRYPTION_KEY: "not the same key" });
    const reply = await other("GET", `${tables.catalog}/${inDefault}/tables/secret`);
    expect([reply.status, reply.type]).toEqual([500, "SecretFetchError"]);
  });
});

describe("committing", () => {
  it("lets one of many writers win, in two processes", async () => {
    await tables.create("contended");
    const second = await tables.start();
    const path = `${tables.catalog}/${inDefault}/tables/contended`;
    const requirements = [{ type: "assert-ref-snapshot-id", ref: "main", "snapshot-id": null }];
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        (index % 2 === 0 ? tables.call : second)("POST", path, { requirements, updates: append(100 + index, 1) }),
      ),
    );
    expect(replies.map((reply) => reply.status).toSorted()).toEqual([200, 409, 409, 409, 409, 409, 409, 409]);
    expect(replies.find((reply) => reply.status === 409)!.type).toBe("CatalogCommitConflicts");
  });

  it("writes a numbered, compressed file that can be registered again", async () => {
    await tables.register("numbered");
    const { body } = await tables.commit("numbered", [{ action: "set-properties", updates: { a: "b" } }]);
    const location = (body as { "metadata-location": string })["metadata-location"];
    expect(location).toMatch(/\/00004-[0-9a-f-]{36}\.gz\.metadata\.json$/);
    await tables.call("DELETE", `${tables.catalog}/${inDefault}/tables/numbered?purgeRequested=false`);
    const again = await tables.call("POST", `${tables.catalog}/${inDefault}/register`, {
      name: "numbered",
      "metadata-location": location,
    });
    expect((again.body as JsonObject)["metadata"]).toEqual((body as JsonObject)["metadata"]);
  });

  it("changes several tables at once or none", async () => {
    await tables.create("one");
    await tables.create("two");
    const change = (name: string, requirements: Json[]): Json => ({
      identifier: { namespace: ["main", "default"], name },
      requirements,
      updates: [{ action: "set-properties", updates: { changed: "yes" } }],
    });
    const failing = [{ type: "assert-current-schema-id", "current-schema-id": 7 }];
    const path = `${tables.catalog}/transactions/commit`;
    expect(
      (await tables.call("POST", path, { "table-changes": [change("one", []), change("two", failing)] })).status,
    ).toBe(409);
    const properties = async (name: string): Promise<Json | undefined> =>
      ((await tables.call("GET", `${tables.catalog}/${inDefault}/tables/${name}`)).body as { metadata: JsonObject })
        .metadata["properties"];
    expect(await properties("one")).toBeUndefined();
    expect((await tables.call("POST", path, { "table-changes": [change("one", []), change("two", [])] })).status).toBe(
      204,
    );
    expect([await properties("one"), await properties("two")]).toEqual([{ changed: "yes" }, { changed: "yes" }]);
  });

  it("refuses updates that contradict the table", async () => {
    await tables.create("strict");
    const updates: Json[] = [
      { action: "set-current-schema", "schema-id": 9 },
      { action: "set-snapshot-ref", "ref-name": "main", type: "branch", "snapshot-id": 1 },
      { action: "upgrade-format-version", "format-version": 1 },
    ];
    for (const update of updates) {
      const reply = await tables.commit("strict", [update]);
      expect([reply.status, reply.type]).toEqual([400, "DataInvalid"]);
    }
    expect((await tables.commit("strict", [{ action: "no-such-update" }])).status).toBe(422);
  });

  it("forgets the log before an expired snapshot", async () => {
    await tables.create("expired");
    await tables.commit("expired", append(1, 1));
    await tables.commit("expired", append(2, 2, 1));
    const { body } = await tables.commit("expired", [{ action: "remove-snapshots", "snapshot-ids": [1] }]);
    const { metadata } = body as { metadata: JsonObject };
    expect((metadata["snapshot-log"] as JsonObject[]).map((entry) => entry["snapshot-id"])).toEqual([2]);
    expect(metadata["current-snapshot-id"]).toBe(2);
  });
});
