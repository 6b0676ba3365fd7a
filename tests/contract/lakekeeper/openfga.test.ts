import { signatureHeaders } from "../../../emulators/lakekeeper/storage/signature.ts";
import type { Client, Reply } from "./client.ts";
import { created, defaultProject, type OpenFgaWorld, startOpenFgaWorld, type Warehouse } from "./openfgaWorld.ts";
import { eventually, schema } from "./tableWorld.ts";

let fga: OpenFgaWorld;
let wh: Warehouse;
beforeAll(async () => {
  fga = await startOpenFgaWorld();
  wh = await fga.makeWarehouse("wh");
});
afterAll(() => fga.close());

const permissions = "/management/v1/permissions";
const said = ({ status, type }: Reply): string => `${status} ${type ?? ""}`.trim();
const assignments = (path: string): string => `${permissions}/${path}/assignments`;

let people = 0;
/** Somebody with these relations to the warehouse, and nothing else. */
async function somebody(...relations: string[]): Promise<Client> {
  const subject = `somebody-${people++}`;
  if (relations.length > 0) await fga.assign(`warehouse/${wh.id}`, subject, ...relations);
  return fga.as(subject);
}

/** What each of these things comes to, tried in this order. */
async function tryAll(call: Client, at: Warehouse = wh): Promise<Record<string, string>> {
  const ns = `${at.path}/namespaces`;
  const name = `n${people++}`;
  const change = { requirements: [], updates: [{ action: "set-properties", updates: { changed: name } }] };
  const tries: [string, () => Promise<Reply>][] = [
    ["config", () => call("GET", `/catalog/v1/config?warehouse=${at.name}`)],
    ["see warehouse", () => call("GET", `/management/v1/warehouse/${at.id}`)],
    ["see namespace", () => call("GET", `${ns}/ns`)],
    ["load", () => call("GET", `${ns}/ns/tables/t`)],
    ["load below", () => call("GET", `${ns}/ns%1Fsub/tables/t`)],
    ["credentials", () => call("GET", `${ns}/ns/tables/t/credentials`)],
    ["commit", () => call("POST", `${ns}/ns/tables/t`, change)],
    ["make table", () => call("POST", `${ns}/ns/tables`, { name, schema })],
    ["make namespace", () => call("POST", ns, { namespace: [name] })],
    ["set properties", () => call("POST", `${ns}/ns/properties`, { updates: { changed: name } })],
    ["rename warehouse", () => call("POST", `/management/v1/warehouse/${at.id}/rename`, { "new-name": at.name })],
    ["read assignments", () => call("GET", assignments(`warehouse/${at.id}`))],
    [
      "grant",
      () => call("POST", assignments(`warehouse/${at.id}`), { writes: [{ type: "select", user: `oidc~${name}` }] }),
    ],
  ];
  const outcomes: Record<string, string> = {};
  for (const [what, attempt] of tries) outcomes[what] = said(await attempt());
  return outcomes;
}

const seen = { config: "200", "see warehouse": "200", "see namespace": "200", load: "200", "load below": "200" };
const noGrants = { "read assignments": "403 ActionForbidden", grant: "401 Unauthorized" };
const noChange = {
  commit: "403 TableActionForbidden",
  "set properties": "403 NamespaceActionForbidden",
  "rename warehouse": "403 WarehouseActionForbidden",
};
const noCreation = { "make table": "403 NamespaceActionForbidden", "make namespace": "403 WarehouseActionForbidden" };
const change = { commit: "200", "set properties": "200", "rename warehouse": "200" };
const creation = { "make table": "200", "make namespace": "200" };
const noFiles = { credentials: "403 TableActionForbidden" };
const files = { credentials: "200" };
const grants = { "read assignments": "200", grant: "204" };
const hidden = {
  config: "404 NoSuchWarehouseException",
  "see warehouse": "404 NoSuchWarehouseException",
  "see namespace": "404 NoSuchNamespaceException",
  load: "404 NoSuchTableException",
  "load below": "404 NoSuchTableException",
  credentials: "404 NoSuchTableException",
  commit: "404 NoSuchTableException",
  "make table": "404 NoSuchNamespaceException",
  "make namespace": "404 NoSuchWarehouseException",
  "set properties": "404 NoSuchNamespaceException",
  "rename warehouse": "404 NoSuchWarehouseException",
};

describe("what somebody can do who has in a warehouse", () => {
  test.each([
    [[], { ...hidden, ...noGrants }],
    [["describe"], { ...seen, ...noFiles, ...noChange, ...noCreation, ...noGrants }],
    [["select"], { ...seen, ...files, ...noChange, ...noCreation, ...noGrants }],
    [["modify"], { ...seen, ...files, ...change, ...noCreation, ...noGrants }],
    [["create"], { ...seen, ...noFiles, ...noChange, ...creation, ...noGrants }],
    [["create", "modify"], { ...seen, ...files, ...change, ...creation, ...noGrants }],
    [["ownership"], { ...seen, ...files, ...change, ...creation, ...grants }],
    [["manage_grants"], { ...hidden, ...grants }],
    [["pass_grants"], { ...hidden, ...noGrants }],
    [["pass_grants", "select"], { ...seen, ...files, ...noChange, ...noCreation, ...grants }],
    // One can pass on only what one has.
    [
      ["pass_grants", "describe"],
      { ...seen, ...noFiles, ...noChange, ...noCreation, ...grants, grant: "401 Unauthorized" },
    ],
  ])("%j", async (relations, expected) => {
    expect(await tryAll(await somebody(...relations))).toEqual(expected);
  });
});

describe("what somebody can do in a warehouse who has in its project", () => {
  test.each([
    ["project_admin", { ...seen, ...files, ...change, ...creation, ...grants }],
    ["security_admin", { ...seen, ...noFiles, ...noChange, ...noCreation, ...grants }],
    ["data_admin", { ...seen, ...files, ...change, ...creation, ...noGrants }],
    ["role_creator", { ...hidden, ...noGrants }],
    ["describe", { ...seen, ...noFiles, ...noChange, ...noCreation, ...noGrants }],
    ["select", { ...seen, ...files, ...noChange, ...noCreation, ...noGrants }],
    ["create", { ...seen, ...noFiles, ...noChange, ...creation, ...noGrants }],
    ["modify", { ...seen, ...files, ...change, ...noCreation, ...noGrants }],
  ])("%s", async (relation, expected) => {
    await fga.assign("project", `project-${relation}`, relation);
    expect(await tryAll(await fga.as(`project-${relation}`))).toEqual(expected);
  });
});

test("an operator may do everything everywhere; an admin runs the server and grants, and sees no data", async () => {
  await fga.assign("server", "second", "operator");
  expect(await tryAll(await fga.as("second"))).toEqual({ ...seen, ...files, ...change, ...creation, ...grants });
  await fga.assign("server", "boss", "admin");
  const admin = await fga.as("boss");
  expect(await tryAll(admin)).toEqual({ ...hidden, ...noGrants });
  expect(said(await admin("GET", "/management/v1/project"))).toBe("200");
  expect(said(await admin("GET", "/management/v1/user"))).toBe("200");
  expect(said(await admin("POST", assignments("project"), { writes: [{ type: "select", user: "oidc~boss" }] }))).toBe(
    "204",
  );
  expect(await tryAll(admin)).toEqual({ ...seen, ...files, ...noChange, ...noCreation, ...noGrants });
});

test("grants on a namespace reach what lies below it, and make what is above it visible and no more", async () => {
  const other = await fga.makeWarehouse("other");
  await fga.assign(`namespace/${other.namespace}`, "guest", "select");
  const guest = await fga.as("guest");
  expect(await tryAll(guest, other)).toEqual({ ...seen, ...files, ...noChange, ...noCreation, ...noGrants });
  const listed = await guest("GET", "/management/v1/warehouse");
  expect((listed.body as { warehouses: { name: string }[] }).warehouses.map(({ name }) => name)).toEqual(["other"]);

  await fga.assign(`warehouse/${other.id}/table/${other.table}`, "reader", "select");
  const reader = await fga.as("reader");
  expect(await tryAll(reader, other)).toEqual({
    ...seen,
    "load below": "404 NoSuchTableException",
    ...files,
    ...noChange,
    ...noCreation,
    ...noGrants,
  });
});

test("lists leave out what one may not see", async () => {
  const call = await fga.as("lister");
  const place = await fga.makeWarehouse("listed");
  const names = async (path: string, field: string): Promise<unknown> => {
    const { status, type, body } = await call("GET", path);
    return status === 200 ? (body as Record<string, unknown>)[field] : `${status} ${type}`;
  };
  await fga.operator("POST", `${place.path}/namespaces`, { namespace: ["secret"] });
  await fga.operator("POST", `${place.path}/namespaces/ns/tables`, { name: "hidden", schema });
  expect(await names("/management/v1/project-list", "projects")).toEqual([]);
  expect(await names("/management/v1/warehouse", "warehouses")).toBe("403 ProjectActionForbidden");
  expect(await names(`${place.path}/namespaces`, "namespaces")).toBe("404 NoSuchWarehouseException");
  expect(await names(`${place.path}/namespaces/ns/tables`, "identifiers")).toBe("404 NoSuchNamespaceException");

  await fga.assign(`warehouse/${place.id}/table/${place.table}`, "lister", "describe");
  expect(await names("/management/v1/project-list", "projects")).toMatchObject([{ "project-id": defaultProject }]);
  expect(await names("/management/v1/warehouse", "warehouses")).toMatchObject([{ name: "listed" }]);
  expect(await names(`${place.path}/namespaces`, "namespaces")).toEqual([["ns"]]);
  expect(await names(`${place.path}/namespaces?parent=ns`, "namespaces")).toEqual([]);
  expect(await names(`${place.path}/namespaces/ns/tables`, "identifiers")).toEqual([{ namespace: ["ns"], name: "t" }]);
  expect(await names(`${place.path}/namespaces/ns/views`, "identifiers")).toEqual([]);

  await fga.assign(`warehouse/${place.id}`, "lister", "describe");
  expect(await names(`${place.path}/namespaces`, "namespaces")).toEqual([["ns"], ["secret"]]);
  expect(await names(`${place.path}/namespaces?parent=ns`, "namespaces")).toEqual([["ns", "sub"]]);
});

test("vended keys of who has only select read and do not write", async () => {
  const attempt = async (call: Client, method: "GET" | "PUT"): Promise<number> => {
    const { body } = await call("GET", `${wh.path}/namespaces/ns/tables/t`);
    const {
      config,
      metadata,
      "metadata-location": file,
    } = body as {
      config: Record<string, string>;
      metadata: { location: string };
      "metadata-location": string;
    };
    const location = method === "GET" ? file : `${metadata.location}/data/new.parquet`;
    const url = `${fga.world.r2.url}/${location.slice("s3://".length)}`;
    const keys = {
      accessKeyId: config["s3.access-key-id"]!,
      secretAccessKey: config["s3.secret-access-key"]!,
      sessionToken: config["s3.session-token"]!,
    };
    const request = {
      method,
      url,
      service: "s3",
      region: "auto",
      body: method === "PUT" ? "data" : "",
      now: new Date(),
    } as const;
    const answer = await fetch(url, {
      method,
      headers: signatureHeaders(request, keys),
      ...(method === "PUT" && { body: "data" }),
    });
    return answer.status;
  };
  const reader = await somebody("select");
  expect([await attempt(reader, "GET"), await attempt(reader, "PUT")]).toEqual([200, 403]);
  const writer = await somebody("modify");
  expect([await attempt(writer, "GET"), await attempt(writer, "PUT")]).toEqual([200, 200]);
  // Each is given its own, whoever asked first.
  expect(await attempt(reader, "PUT")).toBe(403);
  const onlooker = await somebody("describe");
  const { body } = await onlooker("GET", `${wh.path}/namespaces/ns/tables/t`);
  expect(body).toMatchObject({ config: null });
  expect(body).not.toHaveProperty("storage-credentials");
});

describe("assignments", () => {
  test("are told by relation", async () => {
    const { id } = await fga.makeWarehouse("assigned");
    const path = assignments(`warehouse/${id}`);
    const ask = async (query = ""): Promise<unknown> => (await fga.operator("GET", path + query)).body;
    const owner = { type: "ownership", user: "oidc~operator" };
    expect(await ask()).toEqual({ assignments: [owner] });
    await fga.assign(`warehouse/${id}`, "a b/c@d", "select", "create");
    const [select, create] = ["select", "create"].map((type) => ({ type, user: "oidc~a b/c@d" }));
    expect(await ask()).toEqual({ assignments: [owner, select, create] });
    for (const query of ["?relations=create", "?relations[]=create"])
      expect(said(await fga.operator("GET", path + query))).toBe("501 NotModelled");
    expect((await fga.operator("GET", assignments("server"))).body).toMatchObject({
      assignments: expect.arrayContaining([{ type: "operator", user: "oidc~operator" }]) as unknown,
    });
    const project = (await fga.operator("GET", `${assignments("project")}`)).body;
    expect(project).toMatchObject({
      assignments: expect.arrayContaining([{ type: "project_admin", user: "oidc~operator" }]) as unknown,
      "project-id": defaultProject,
    });
    expect((await fga.operator("GET", `${assignments(`project/${defaultProject}`)}`)).body).toEqual(project);
  });

  test("are all made or none, and are not made twice or taken back twice", async () => {
    const path = assignments(`warehouse/${wh.id}`);
    const select = { type: "select", user: "oidc~once" };
    const modify = { type: "modify", user: "oidc~once" };
    const post = async (body: Record<string, object[]>): Promise<string> =>
      said(await fga.operator("POST", path, body as never));
    const held = async (): Promise<unknown[]> => {
      const { body } = await fga.operator("GET", path);
      return (body as { assignments: { user: string }[] }).assignments.filter(({ user }) => user === "oidc~once");
    };
    expect(await post({})).toBe("204");
    expect(await post({ writes: [select] })).toBe("204");
    expect(await post({ writes: [modify, select] })).toBe("409 TupleAlreadyExistsError");
    expect(await held()).toEqual([select]);
    expect(await post({ writes: [modify, modify] })).toBe("503 AuthorizationBackendError");
    expect(await post({ deletes: [modify] })).toBe("404 TupleNotFoundError");
    expect(await post({ writes: [modify], deletes: [select] })).toBe("204");
    expect(await held()).toEqual([modify]);
    expect(await post({ deletes: [modify] })).toBe("204");
    expect(await held()).toEqual([]);
  });

  test("take effect at once, and so does taking them back", async () => {
    const call = await fga.as("fleeting");
    const load = async (): Promise<string> => said(await call("GET", `${wh.path}/namespaces/ns/tables/t`));
    await fga.assign(`warehouse/${wh.id}`, "fleeting", "select");
    expect(await load()).toBe("200");
    const deletes = [{ type: "select", user: "oidc~fleeting" }];
    await fga.operator("POST", assignments(`warehouse/${wh.id}`), { deletes });
    expect(await load()).toBe("404 NoSuchTableException");
  });

  test.each([
    ["warehouse", { writes: [{ type: "admin", user: "oidc~x" }] }, "422"],
    ["warehouse", { writes: [{ type: "select", user: "x" }] }, "422"],
    ["warehouse", { writes: [{ type: "select" }] }, "422"],
    ["warehouse", { writes: [{ type: "select", role: "00000000-0000-0000-0000-000000000001" }] }, "501 NotModelled"],
    ["table", { writes: [{ type: "create", user: "oidc~x" }] }, "422"],
  ])("of a %s: %j is refused", async (kind, body, expected) => {
    const path = kind === "table" ? `warehouse/${wh.id}/table/${wh.table}` : `warehouse/${wh.id}`;
    expect(said(await fga.operator("POST", assignments(path), body as never))).toBe(expected);
  });

  test("of what is not there are forbidden to everybody", async () => {
    const nothing = "00000000-0000-0000-0000-00000000dead";
    expect(said(await fga.operator("GET", assignments(`warehouse/${nothing}`)))).toBe("403 ActionForbidden");
    expect(said(await fga.operator("GET", assignments("warehouse/no-uuid")))).toBe("400");
  });
});

test("what is dropped leaves no permissions behind", async () => {
  const place = await fga.makeWarehouse("dropped");
  const ns = `${place.path}/namespaces`;
  await fga.operator("POST", `${ns}/ns/views`, view("v"));
  await fga.operator("DELETE", `${ns}/ns/tables/t?purgeRequested=false`);
  expect(said(await fga.operator("GET", assignments(`warehouse/${place.id}/table/${place.table}`)))).toBe(
    "403 ActionForbidden",
  );
  expect(said(await fga.operator("DELETE", `${ns}/ns?recursive=true`))).toBe("204");
  expect(said(await fga.operator("GET", assignments(`namespace/${place.namespace}`)))).toBe("403 ActionForbidden");
  expect(said(await fga.operator("DELETE", `/management/v1/warehouse/${place.id}`))).toBe("204");
  expect(said(await fga.operator("GET", assignments(`warehouse/${place.id}`)))).toBe("403 ActionForbidden");
});

test("what is dropped softly keeps its permissions until it expires", async () => {
  const place = await fga.makeWarehouse("softly");
  const soften = (seconds: number) =>
    fga.operator("POST", `/management/v1/warehouse/${place.id}/delete-profile`, {
      "delete-profile": { type: "soft", "expiration-seconds": seconds },
    });
  const drop = () => fga.operator("DELETE", `${place.path}/namespaces/ns/tables/t?purgeRequested=false`);
  const held = async (): Promise<string> =>
    said(await fga.operator("GET", assignments(`warehouse/${place.id}/table/${place.table}`)));
  await soften(3600);
  await drop();
  expect(await held()).toBe("200");

  const deleted = `/management/v1/warehouse/${place.id}/deleted-tabulars`;
  await fga.assign(`namespace/${place.namespace}`, "saver", "modify");
  await fga.assign(`warehouse/${place.id}/table/${place.table}`, "watcher", "describe");
  await fga.operator("POST", `${place.path}/namespaces`, { namespace: ["beside"] });
  const { body } = await fga.operator("GET", `${place.path}/namespaces/beside`);
  const beside = (body as { properties: { namespace_id: string } }).properties.namespace_id;
  await fga.assign(`namespace/${beside}`, "neighbour", "ownership");
  const targets = { targets: [{ id: place.table, type: "table" }] };
  const attempt = async (subject: string): Promise<[number, string]> => {
    const call = await fga.as(subject);
    const { body } = await call("GET", deleted);
    return [(body as { tabulars: unknown[] }).tabulars.length, said(await call("POST", `${deleted}/undrop`, targets))];
  };
  expect(await attempt("neighbour")).toEqual([0, "404 NoSuchTableException"]);
  expect(await attempt("watcher")).toEqual([1, "403 TableActionForbidden"]);
  expect(await attempt("saver")).toEqual([1, "204"]);

  await soften(0);
  await drop();
  await eventually(async () => (await held()) === "403 ActionForbidden");
});

test("a table that was moved keeps the permissions of where it came from, as in Lakekeeper 0.13.3", async () => {
  const place = await fga.makeWarehouse("moved");
  const ns = `${place.path}/namespaces`;
  await fga.operator("POST", ns, { namespace: ["target"] });
  await fga.assign(`namespace/${place.namespace}`, "source-reader", "select");
  const call = await fga.as("source-reader");
  const move = { source: { namespace: ["ns"], name: "t" }, destination: { namespace: ["target"], name: "t" } };
  expect(said(await call("POST", `${place.path}/tables/rename`, move))).toBe("404 NoSuchNamespaceException");
  expect(said(await fga.operator("POST", `${place.path}/tables/rename`, move))).toBe("204");
  expect(said(await call("GET", `${ns}/target/tables/t`))).toBe("200");
});

function view(name: string): never {
  return {
    name,
    schema,
    "view-version": {
      "version-id": 1,
      "timestamp-ms": 1,
      "schema-id": 0,
      summary: {},
      representations: [{ type: "sql", sql: "SELECT 1", dialect: "spark" }],
      "default-namespace": ["ns"],
    },
  } as never;
}

test("views: select sees, create makes, modify changes", async () => {
  const place = await fga.makeWarehouse("viewed");
  const views = `${place.path}/namespaces/ns/views`;
  await fga.operator("POST", views, view("v"));
  const change = { requirements: [], updates: [{ action: "set-properties", updates: { a: "b" } }] };
  for (const relation of ["describe", "create", "modify"])
    await fga.assign(`warehouse/${place.id}`, `view-${relation}`, relation);
  const outcomes = async (subject: string): Promise<string[]> => {
    const call = await fga.as(subject);
    return [
      said(await call("GET", `${views}/v`)),
      said(await call("POST", `${views}/v`, change)),
      said(await call("POST", views, view(`of-${subject}`))),
    ];
  };
  const [noCommit, noMaking] = ["403 ViewActionForbidden", "403 NamespaceActionForbidden"];
  expect(await outcomes("nobody")).toEqual([
    "404 NoSuchViewException",
    "404 NoSuchViewException",
    "404 NoSuchNamespaceException",
  ]);
  expect(await outcomes("view-describe")).toEqual(["200", noCommit, noMaking]);
  expect(await outcomes("view-create")).toEqual(["200", noCommit, "200"]);
  expect(await outcomes("view-modify")).toEqual(["200", "200", noMaking]);
});

test("users: everybody has oneself, the server's staff all of them", async () => {
  const call = await fga.as("self");
  expect(said(await call("POST", "/management/v1/user", {}))).toBe("201");
  expect(said(await call("GET", "/management/v1/whoami"))).toBe("200");
  expect(said(await call("GET", "/management/v1/user"))).toBe("403 ServerActionForbidden");
  const another = { id: "oidc~another", name: "another", "user-type": "application" };
  expect(said(await call("POST", "/management/v1/user", another))).toBe("403 ServerActionForbidden");
  expect(said(await fga.operator("POST", "/management/v1/user", another))).toBe("201");
  expect(said(await call("DELETE", "/management/v1/user/oidc~another"))).toBe("403 ServerActionForbidden");
  await fga.assign(`warehouse/${wh.id}`, "another", "select");
  expect(said(await fga.operator("DELETE", "/management/v1/user/oidc~another"))).toBe("204");
  const { body } = await fga.operator("GET", assignments(`warehouse/${wh.id}`));
  expect(JSON.stringify(body)).not.toContain("oidc~another");
  expect(said(await call("DELETE", "/management/v1/user/oidc~self"))).toBe("204");
});

test("projects: who makes one administers it, and others do not even list it", async () => {
  const call = await fga.as("nobody");
  const project = { "project-name": "mine" };
  expect(said(await call("POST", "/management/v1/project", project))).toBe("403 ServerActionForbidden");
  await fga.assign("server", "founder", "admin");
  const founder = await fga.as("founder");
  const { "project-id": id = "" } = created(await founder("POST", "/management/v1/project", project));
  const at = { "x-project-id": id };
  expect(said(await founder("POST", "/management/v1/project/rename", { "new-name": "ours" }, at))).toBe("200");
  expect(said(await call("POST", "/management/v1/project/rename", { "new-name": "x" }, at))).toBe(
    "403 ProjectActionForbidden",
  );
  expect(said(await call("GET", "/management/v1/project", undefined, at))).toBe("403 ProjectActionForbidden");
  expect(said(await call("DELETE", "/management/v1/project", undefined, at))).toBe("403 ProjectActionForbidden");
  expect((await founder("GET", assignments("project"), undefined, at)).body).toEqual({
    assignments: [{ type: "project_admin", user: "oidc~founder" }],
    "project-id": id,
  });
  expect(said(await founder("DELETE", "/management/v1/project", undefined, at))).toBe("204");
});

test.each([
  ["POST", `${permissions}/check`],
  ["GET", `${permissions}/server/authorizer-actions`],
  ["GET", `${permissions}/role/00000000-0000-0000-0000-000000000001/assignments`],
])("%s %s is not modelled, and says so", async (method, path) => {
  expect(said(await fga.operator(method, path))).toBe("501 NotModelled");
});

test("a role cannot be assumed", async () => {
  const assumed = { "x-assume-role": "00000000-0000-0000-0000-000000000001" };
  expect(said(await fga.operator("GET", "/management/v1/info", undefined, assumed))).toBe("501 NotModelled");
});
