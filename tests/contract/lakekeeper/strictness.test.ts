import { type RunningServer, startLakekeeper } from "../../../emulators/lakekeeper/server.ts";
import { type Client, clientOf, type Reply } from "./client.ts";
import { append, inDefault, schema, startTableWorld, type TableWorld } from "./tableWorld.ts";

let tables: TableWorld;
let call: Client;
beforeAll(async () => {
  tables = await startTableWorld();
  call = tables.call;
});
afterAll(() => tables.close());

const told = ({ status, type }: Reply): unknown[] => [status, type];
const kind = ({ status, headers }: Reply): unknown[] => [status, headers.get("content-type")];
const plain = "text/plain; charset=utf-8";

describe("pages", () => {
  const encode = (text: string): string => Buffer.from(text).toString("base64url");
  const places = (): string[] => [
    `${tables.catalog}/namespaces`,
    `${tables.catalog}/${inDefault}/tables`,
    `/management/v1/warehouse/${tables.catalog.split("/").at(-1)}/deleted-tabulars`,
  ];

  test.each([
    ["that is no token", "garbage"],
    ["without an id", encode("1&5")],
    ["whose id is no UUID", encode("1&5&nothing")],
    ["whose time is beyond 64 bits", encode("1&99999999999999999999&00000000-0000-0000-0000-000000000000")],
    ["of another version", encode("2&5&00000000-0000-0000-0000-000000000000")],
  ])("do not go on from a token %s", async (_what, token) => {
    for (const place of places())
      expect(told(await call("GET", `${place}?pageToken=${token}`))).toEqual([400, "PaginateTokenParseError"]);
  });

  test.each(["many", "1.5", "-1"])("have no size of %s", async (size) => {
    for (const place of places()) {
      const reply = await call("GET", `${place}?pageSize=${size}`);
      expect(kind(reply)).toEqual([400, plain]);
      expect(reply.body).toMatch(/^Failed to deserialize query string: pageSize: /);
    }
  });
});

describe("paths and bodies", () => {
  test("levels are joined by the unit separator, in either spelling, and by nothing else", async () => {
    const status = async (name: string): Promise<number> =>
      (await call("HEAD", `${tables.catalog}/namespaces/${name}`)).status;
    expect(await Promise.all(["main%1Fdefault", "main%1fdefault", "MAIN%1FDefault"].map(status))).toEqual([
      204, 204, 204,
    ]);
    expect(await status("main%2Fdefault")).toBe(404);
    expect(await status("main.default")).toBe(400);
    expect(await status("main%1F")).toBe(400);
  });

  test("fields that nobody knows are ignored", async () => {
    const made = await call("POST", `${tables.catalog}/${inDefault}/tables`, { name: "fields", schema, "no-such": 1 });
    expect(made.status).toBe(200);
    expect((await tables.commit("fields", [{ action: "set-properties", updates: { a: "b" }, more: [] }])).status).toBe(
      200,
    );
  });

  test.each([
    ["POST", "namespaces", { namespace: "main" }],
    ["POST", `${inDefault}/register`, { name: "t" }],
    ["POST", `${inDefault}/tables`, { name: 5, schema }],
    ["POST", `${inDefault}/tables/any`, { updates: [] }],
    ["POST", "tables/rename", { source: { namespace: ["main"], name: "a" } }],
    ["POST", "transactions/commit", { "table-changes": {} }],
  ])("%s %s with a body of another shape is refused in plain text", async (method, path, body) => {
    expect(kind(await call(method, `${tables.catalog}/${path}`, body as never))).toEqual([422, plain]);
  });

  test("ids of tables to take back are UUIDs", async () => {
    const undrop = `/management/v1/warehouse/${tables.catalog.split("/").at(-1)}/deleted-tabulars/undrop`;
    const reply = await call("POST", undrop, { targets: [{ type: "table", id: "nothing" }] });
    expect(kind(reply)).toEqual([422, plain]);
    const unknown = { type: "table", id: "00000000-0000-4000-8000-000000000000" };
    expect((await call("POST", undrop, { targets: [unknown] })).status).toBe(404);
  });

  test("ids in the paths of the management are UUIDs", async () => {
    const warehouse = `/management/v1/warehouse/${tables.catalog.split("/").at(-1)}`;
    expect(kind(await call("GET", "/management/v1/warehouse/nothing"))).toEqual([400, plain]);
    for (const path of [
      `${warehouse}/namespace/nothing`,
      "/management/v1/warehouse/nothing/namespace/00000000-0000-4000-8000-000000000000",
      `${warehouse}/table/nothing`,
    ])
      expect(kind(await call("POST", `${path}/protection`, { protected: true }))).toEqual([400, plain]);
  });
});

describe("loading", () => {
  test("a HEAD is answered as the GET would be, without a body", async () => {
    await tables.create("headed");
    const path = `${tables.catalog}/${inDefault}/tables`;
    const there = await call("HEAD", `${path}/headed`);
    const missing = await call("HEAD", `${path}/missing`);
    expect([there.status, there.body, missing.status, missing.body]).toEqual([204, "", 404, ""]);
  });

  test("a tag counts in a list and in its weak form, and no other does", async () => {
    await tables.create("tagged");
    const path = `${tables.catalog}/${inDefault}/tables/tagged`;
    const etag = (await call("GET", path)).headers.get("etag")!;
    const status = async (tag: string): Promise<number> =>
      (await call("GET", path, undefined, { "if-none-match": tag })).status;
    expect(await Promise.all([etag, `W/${etag}`, `"other", ${etag}`].map(status))).toEqual([304, 304, 304]);
    expect(await status('"other"')).toBe(200);
  });

  test("ids of 64 bits come back as they were committed, and wider ones are refused", async () => {
    await tables.create("wide");
    const id = 9_223_372_036_854_775_807n;
    expect((await tables.commit("wide", append(id, 1))).status).toBe(200);
    const requirement = { type: "assert-ref-snapshot-id", ref: "main", "snapshot-id": id };
    const change = [{ action: "set-properties", updates: { a: "b" } }];
    expect((await tables.commit("wide", change, [requirement])).status).toBe(200);
    const near = { ...requirement, "snapshot-id": id - 1n };
    expect((await tables.commit("wide", change, [near])).status).toBe(409);
    expect(kind(await tables.commit("wide", change, [{ ...requirement, "snapshot-id": id + 1n }]))).toEqual([
      422,
      plain,
    ]);
  });
});

describe("another encryption key", () => {
  test("hides the credentials until new ones are given, and nothing else", async () => {
    const id = await tables.makeWarehouse("rekeyed");
    const path = `/catalog/v1/${id}/${inDefault}/tables`;
    await call("POST", path, { name: "t", schema });
    const other = await tables.start({ LAKEKEEPER__PG_ENCRYPTION_KEY: "a new key" });
    expect((await other("GET", `/management/v1/warehouse/${id}`)).status).toBe(200);
    expect((await other("HEAD", `${path}/t`)).status).toBe(204);
    expect(told(await other("GET", `${path}/t`))).toEqual([500, "SecretFetchError"]);
    expect(told(await other("POST", path, { name: "u", schema }))).toEqual([500, "SecretFetchError"]);
    expect(told(await other("GET", `${path}/u`))).toEqual([404, "NoSuchTableException"]);
    const { accountId, accessKeyId, secretAccessKey, tokenValue } = tables.world;
    const credential = {
      type: "s3",
      "credential-type": "cloudflare-r2",
      "account-id": accountId,
      "access-key-id": accessKeyId,
      "secret-access-key": secretAccessKey,
      token: tokenValue,
    };
    const given = await other("POST", `/management/v1/warehouse/${id}/storage-credential`, {
      "new-storage-credential": credential,
    });
    expect(given.status).toBe(200);
    expect((await other("GET", `${path}/t`)).status).toBe(200);
  });
});

describe("tokens", () => {
  let guarded: RunningServer;
  beforeAll(async () => {
    guarded = await startLakekeeper({ ...(await tables.world.settings("strict")), ...tables.world.openId });
  });
  afterAll(() => guarded.close());

  async function ask(
    authorization: string | undefined,
    method = "GET",
    path = "/management/v1/info",
    body?: string,
  ): Promise<Reply> {
    return clientOf(guarded.url)(method, path, body, authorization === undefined ? {} : { authorization });
  }

  test("are asked for before anything else is looked at", async () => {
    for (const [method, path, body] of [
      ["POST", "/management/v1/bootstrap", "not JSON"],
      ["DELETE", "/catalog/v1/config", undefined],
      ["GET", "/catalog/v1/config", undefined],
      ["GET", "/catalog/v1/nothing/namespaces", undefined],
    ] as const)
      expect(told(await ask(undefined, method, path, body))).toEqual([401, "MissingAuthorizationHeader"]);
  });

  test("need a bearer's header, and no refusal says how", async () => {
    const token = await tables.world.sign("a");
    for (const header of [token, `Basic ${token}`, "Bearer", "Bearer "]) {
      const reply = await ask(header);
      expect([...told(reply), reply.headers.get("www-authenticate")]).toEqual([401, "AuthenticationFailed", null]);
    }
  });

  test("need the id of a key, an expiry and a subject; a day from which they count is not looked at", async () => {
    const { world } = tables;
    const later = Math.floor(Date.now() / 1000) + 3_600;
    expect((await ask(`Bearer ${await world.sign("a", { nbf: later })}`)).status).toBe(200);
    expect(told(await ask(`Bearer ${await world.sign("a", { sub: "" })}`))).toEqual([401, "AuthenticationFailed"]);
    const withoutKey = await world.sign("a", {}, { alg: "RS256", typ: "JWT" });
    expect(told(await ask(`Bearer ${withoutKey}`))).toEqual([401, "AuthenticationFailed"]);
  });
});
