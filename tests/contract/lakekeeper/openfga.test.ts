import { signatureHeaders } from "../../../emulators/lakekeeper/storage/signature.ts";
import type { Client, Reply } from "./client.ts";
import { defaultProject, type OpenFgaWorld, startOpenFgaWorld, type Warehouse } from "./openfgaWorld.ts";
import { schema } from "./tableWorld.ts";

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
