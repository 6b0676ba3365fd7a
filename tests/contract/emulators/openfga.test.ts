import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Faults } from "../../../emulators/faults.ts";
import { type OpenFga, startOpenFga } from "../../../emulators/openfga/server.ts";

let directory: string;
let openFga: OpenFga;
let store: string;
const faults = new Faults();
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "openfga-"));
  openFga = await startOpenFga({ directory, faults });
  store = (await call("POST", "/stores", { name: "test" })).body["id"] as string;
  await call("POST", `/stores/${store}/authorization-models`, model);
});
afterAll(async () => {
  await openFga.close();
  await rm(directory, { recursive: true });
});

interface Reply {
  status: number;
  body: Record<string, unknown>;
}

async function call(method: string, path: string, body?: unknown, headers = {}, url = openFga.url): Promise<Reply> {
  const answer = await fetch(url + path, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === "" ? {} : (JSON.parse(text) as Record<string, unknown>) };
}

const of = (relation: string) => ({ computedUserset: { relation } });
const from = (tupleset: string, relation: string) => ({
  tupleToUserset: { tupleset: { relation: tupleset }, computedUserset: { relation } },
});
const own = { this: {} };

/** Folders in folders, documents in them, groups in groups. */
const model = {
  schema_version: "1.1",
  type_definitions: [
    { type: "user" },
    {
      type: "group",
      relations: { member: own },
      metadata: {
        relations: {
          member: { directly_related_user_types: [{ type: "user" }, { type: "group", relation: "member" }] },
        },
      },
    },
    {
      type: "folder",
      relations: { parent: own, viewer: { union: { child: [own, from("parent", "viewer")] } } },
      metadata: {
        relations: {
          parent: { directly_related_user_types: [{ type: "folder" }] },
          viewer: { directly_related_user_types: [{ type: "user" }, { type: "group", relation: "member" }] },
        },
      },
    },
    {
      type: "document",
      relations: {
        parent: own,
        editor: own,
        blocked: own,
        viewer: { union: { child: [own, of("editor"), from("parent", "viewer")] } },
        reader: { difference: { base: of("viewer"), subtract: of("blocked") } },
        approver: { intersection: { child: [of("editor"), of("viewer")] } },
      },
      metadata: {
        relations: {
          parent: { directly_related_user_types: [{ type: "folder" }] },
          editor: { directly_related_user_types: [{ type: "user" }] },
          blocked: { directly_related_user_types: [{ type: "user" }] },
          viewer: { directly_related_user_types: [{ type: "user" }, { type: "user", wildcard: {} }] },
        },
      },
    },
  ],
};

/** `object relation user`. */
function tuples(...lines: string[]) {
  return lines.map((line) => {
    const [object, relation, user] = line.split(" ");
    return { object, relation, user };
  });
}

function write(writes: string[], deletes: string[] = [], how: { on_duplicate?: string; on_missing?: string } = {}) {
  return call("POST", `/stores/${store}/write`, {
    ...(writes.length > 0 && {
      writes: { tuple_keys: tuples(...writes), ...(how.on_duplicate && { on_duplicate: how.on_duplicate }) },
    }),
    ...(deletes.length > 0 && {
      deletes: { tuple_keys: tuples(...deletes), ...(how.on_missing && { on_missing: how.on_missing }) },
    }),
  });
}

async function check(line: string): Promise<unknown> {
  const { status, body } = await call("POST", `/stores/${store}/check`, { tuple_key: tuples(line)[0] });
  return status === 200 ? body["allowed"] : body["code"];
}

test("a health check needs no key; all else needs one of them", async () => {
  const keyed = await startOpenFga({ directory: join(directory, "keyed"), keys: ["first", "second"] });
  const ask = (path: string, headers = {}) => call("GET", path, undefined, headers, keyed.url);
  expect(await ask("/healthz")).toEqual({ status: 200, body: { status: "SERVING" } });
  expect(await ask("/stores")).toEqual({
    status: 401,
    body: { code: "bearer_token_missing", message: "missing bearer token" },
  });
  for (const authorization of ["Bearer third", "Bearer firs", "Bearer first "])
    expect(await ask("/stores", { authorization: authorization.replace(/ $/, "x") })).toEqual({
      status: 401,
      body: { code: "unauthenticated", message: "unauthenticated" },
    });
  for (const key of ["first", "second"])
    expect((await ask("/stores", { authorization: `Bearer ${key}` })).status).toBe(200);
  await keyed.close();
});

test("stores are listed, by name too and in pages, and can be had and deleted", async () => {
  const ids: unknown[] = [];
  for (let index = 0; index < 3; index++) ids.push((await call("POST", "/stores", { name: "many" })).body["id"]);
  const list = async (query: string) =>
    (await call("GET", `/stores?${query}`)).body as { stores: { id: string }[]; continuation_token: string };
  expect((await list("name=many")).stores.map(({ id }) => id).sort()).toEqual([...ids].sort());
  const first = await list("name=many&page_size=2");
  const rest = await list(`name=many&page_size=2&continuation_token=${first.continuation_token}`);
  expect([...first.stores, ...rest.stores].map(({ id }) => id).sort()).toEqual([...ids].sort());
  expect(rest.continuation_token).toBe("");
  const { body } = await call("GET", `/stores/${String(ids[0])}`);
  expect(body).toEqual({
    id: ids[0],
    name: "many",
    created_at: expect.any(String) as string,
    updated_at: expect.any(String) as string,
  });
  expect((await call("DELETE", `/stores/${String(ids[0])}`)).status).toBe(204);
  expect(await call("GET", `/stores/${String(ids[0])}`)).toMatchObject({
    status: 404,
    body: { code: "store_id_not_found" },
  });
  expect((await call("GET", "/stores/short")).body).toMatchObject({ code: "validation_error" });
});

test("models are kept, and the newest counts unless another is named", async () => {
  const own = (await call("POST", "/stores", { name: "models" })).body["id"] as string;
  const tuple_key = { user: "user:a", relation: "viewer", object: "document:1" };
  const ask = async (id?: string) =>
    (await call("POST", `/stores/${own}/check`, { tuple_key, ...(id && { authorization_model_id: id }) })).body;
  expect(await ask()).toMatchObject({ code: "latest_authorization_model_not_found" });
  const add = async (body: object) =>
    (await call("POST", `/stores/${own}/authorization-models`, body)).body["authorization_model_id"] as string;
  const first = await add(model);
  await add({ schema_version: "1.1", type_definitions: [{ type: "user" }] });
  expect(await ask()).toMatchObject({ code: "validation_error", message: "type 'document' not found" });
  expect(await ask(first)).toEqual({ allowed: false, resolution: "" });
  expect(await ask("01ARZ3NDEKTSV4RRFFQ69G5FAV")).toMatchObject({ code: "authorization_model_not_found" });
  const { body } = await call("GET", `/stores/${own}/authorization-models/${first}`);
  expect(body).toMatchObject({ authorization_model: { id: first, schema_version: "1.1" } });
  const { body: all } = await call("GET", `/stores/${own}/authorization-models`);
  expect((all["authorization_models"] as unknown[]).length).toBe(2);
  const broken = { type: "document", relations: { viewer: of("nothing") } };
  expect(
    (await call("POST", `/stores/${own}/authorization-models`, { schema_version: "1.1", type_definitions: [broken] }))
      .body,
  ).toMatchObject({ code: "invalid_authorization_model" });
});

test("checks follow unions, links, groups, wildcards, differences and intersections", async () => {
  await write([
    "group:inner member user:carol",
    "group:outer member group:inner#member",
    "folder:root viewer group:outer#member",
    "folder:sub parent folder:root",
    "document:plan parent folder:sub",
    "document:plan editor user:erin",
    "document:plan blocked user:carol",
    "document:open viewer user:*",
  ]);
  const expected: Record<string, boolean> = {
    "document:plan viewer user:carol": true,
    "document:plan reader user:carol": false,
    "document:plan viewer user:erin": true,
    "document:plan reader user:erin": true,
    "document:plan approver user:erin": true,
    "document:plan approver user:carol": false,
    "document:plan viewer user:dave": false,
    "document:open viewer user:dave": true,
    "folder:sub viewer group:inner#member": true,
    "folder:sub viewer group:outer#member": true,
    "group:inner member user:dave": false,
  };
  for (const [line, allowed] of Object.entries(expected)) expect([line, await check(line)]).toEqual([line, allowed]);
  const checks = Object.keys(expected).map((line, index) => ({
    tuple_key: tuples(line)[0],
    correlation_id: `c${index}`,
  }));
  const { body } = await call("POST", `/stores/${store}/batch-check`, { checks });
  expect(body["result"]).toEqual(
    Object.fromEntries(Object.values(expected).map((allowed, index) => [`c${index}`, { allowed }])),
  );
});

test("a cycle of groups ends, and hides nobody", async () => {
  await write([
    "group:x member group:y#member",
    "group:y member group:x#member",
    "group:y member user:yes",
    "folder:cycle viewer group:x#member",
  ]);
  expect(await check("folder:cycle viewer user:yes")).toBe(true);
  expect(await check("group:x member user:yes")).toBe(true);
  expect(await check("folder:cycle viewer user:no")).toBe(false);
});

describe("writes", () => {
  const invalid = (code: string, message: string) => ({
    status: 400,
    body: { code, message: expect.stringContaining(message) as string },
  });

  test("are all made or none, and not twice unless that is to be ignored", async () => {
    const [one, two] = ["document:w editor user:one", "document:w editor user:two"];
    expect(await write([one])).toEqual({ status: 200, body: {} });
    expect(await write([two, one])).toEqual(
      invalid(
        "write_failed_due_to_invalid_input",
        "cannot write a tuple which already exists: user: 'user:one', relation: 'editor', object: 'document:w': tuple to be written already existed or the tuple to be deleted did not exist",
      ),
    );
    expect(await check(two)).toBe(false);
    expect(await write([], [two])).toEqual(
      invalid("write_failed_due_to_invalid_input", "cannot delete a tuple which does not exist"),
    );
    expect((await write([one, two], [], { on_duplicate: "ignore" })).status).toBe(200);
    expect((await write([], [one, two])).status).toBe(200);
    expect((await write([], [one], { on_missing: "ignore" })).status).toBe(200);
    expect(await check(one)).toBe(false);
  });

  test.each([
    [
      ["document:w editor user:x", "document:w editor user:x"],
      "cannot_allow_duplicate_tuples_in_one_request",
      "duplicate tuple in write",
    ],
    [[], "invalid_write_input", "at least one write"],
    [
      Array.from({ length: 101 }, (_, index) => `document:w editor user:${index}`),
      "exceeded_entity_limit",
      "allowed limit of 100",
    ],
    [["page:1 editor user:x"], "validation_error", "type 'page' not found"],
    [["document:w owner user:x"], "validation_error", "relation 'document#owner' not found"],
    [
      ["document:w editor folder:x"],
      "validation_error",
      "type 'folder' is not an allowed type restriction for 'document#editor'",
    ],
    [
      ["document:w editor user:*"],
      "validation_error",
      "the typed wildcard 'user:*' is not an allowed type restriction",
    ],
    [["document:w editor group:x#member"], "validation_error", "'group#member' is not an allowed type restriction"],
    [
      ["document:w reader user:x"],
      "validation_error",
      "type 'user' is not an allowed type restriction for 'document#reader'",
    ],
    [["document editor user:x"], "validation_error", "invalid 'object' field format"],
    [["document:w editor nobody"], "validation_error", "the 'user' field is malformed"],
  ])("%.60j", async (lines, code, message) => {
    expect(await write(lines)).toEqual(invalid(code, message));
  });
});

test("reads filter by object, by type and user, and by relation, in pages", async () => {
  const lines = Array.from({ length: 5 }, (_, index) => `document:read editor user:${index}`);
  await write([...lines, "document:read blocked user:0", "folder:read viewer user:0"]);
  const read = async (body: object): Promise<string[]> => {
    const found: string[] = [];
    for (let token: string | undefined; token !== "";) {
      const { body: page } = await call("POST", `/stores/${store}/read`, {
        ...body,
        page_size: 2,
        ...(token !== undefined && { continuation_token: token }),
      });
      const { tuples: part } = page as { tuples: { key: Record<string, string> }[] };
      found.push(...part.map(({ key }) => `${key["object"]} ${key["relation"]} ${key["user"]}`));
      token = page["continuation_token"] as string;
    }
    return found;
  };
  expect(await read({ tuple_key: { object: "document:read", relation: "editor" } })).toEqual(lines);
  expect(await read({ tuple_key: { object: "document:", user: "user:0" } })).toEqual([
    "document:read editor user:0",
    "document:read blocked user:0",
  ]);
  expect((await read({})).length).toBeGreaterThan(7);
  for (const tuple_key of [{ object: "document:" }, { user: "user:0" }])
    expect(await call("POST", `/stores/${store}/read`, { tuple_key })).toMatchObject({
      status: 400,
      body: { code: "validation_error" },
    });
});

test.each([
  ["POST", "/expand", 501, "unimplemented"],
  ["POST", "/list-objects", 501, "unimplemented"],
  ["GET", "/changes", 501, "unimplemented"],
  ["GET", "/nowhere", 404, "undefined_endpoint"],
])("%s %s of a store: %d %s", async (method, path, status, code) => {
  expect(await call(method, `/stores/${store}${path}`, method === "POST" ? {} : undefined)).toMatchObject({
    status,
    body: { code },
  });
});

test("what it does not know in a request is refused, and so is what is no JSON", async () => {
  const tuple_key = { user: "user:a", relation: "viewer", object: "document:1" };
  const contextual = { tuple_key, contextual_tuples: { tuple_keys: [] } };
  for (const body of [contextual, "{", { tuple_key: {} }])
    expect(await call("POST", `/stores/${store}/check`, body)).toMatchObject({
      status: 400,
      body: { code: "validation_error" },
    });
});

test("a fault spoils the answers that it is for", async () => {
  faults.add("GET /stores, status 503, first 1");
  expect(await call("GET", "/stores")).toMatchObject({ status: 503, body: { code: "internal_error" } });
  expect((await call("GET", "/stores")).status).toBe(200);
  faults.clear();
});
