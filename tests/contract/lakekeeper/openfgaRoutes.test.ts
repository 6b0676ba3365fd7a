import { randomUUID } from "node:crypto";
import type { Json } from "../../../emulators/lakekeeper/http/json.ts";
import { permissionRoutes } from "../../../emulators/lakekeeper/resources/permissions.ts";
import { routes } from "../../../emulators/lakekeeper/server.ts";
import { type Client, warehouseRequest } from "./client.ts";
import { created, type OpenFgaWorld, startOpenFgaWorld, type Warehouse } from "./openfgaWorld.ts";
import { schema } from "./tableWorld.ts";

// Every route of the server, asked by somebody who has a token and no permission: none is forgotten, and none of them
// tells or changes anything.

let fga: OpenFgaWorld;
let wh: Warehouse;
let stranger: Client;
/** May see everything in the warehouse. */
let onlooker: Client;
/** May make things in it besides. */
let creator: Client;
let viewId: string;
beforeAll(async () => {
  fga = await startOpenFgaWorld();
  wh = await fga.makeWarehouse("wh");
  [stranger, onlooker, creator] = [await fga.as("stranger"), await fga.as("onlooker"), await fga.as("creator")];
  await fga.assign(`warehouse/${wh.id}`, "onlooker", "describe");
  await fga.assign(`warehouse/${wh.id}`, "creator", "create");
  const made = await fga.operator("POST", `${wh.path}/namespaces/ns/views`, view);
  viewId = (created(made)["metadata"] as unknown as { "view-uuid": string })["view-uuid"];
});
afterAll(() => fga.close());

const view = {
  name: "v",
  schema,
  "view-version": {
    "version-id": 1,
    "timestamp-ms": 1,
    "schema-id": 0,
    summary: {},
    representations: [{ type: "sql", sql: "SELECT 1", dialect: "spark" }],
    "default-namespace": ["ns"],
  },
};

const noServer = "403 ServerActionForbidden";
const noProject = "403 ProjectActionForbidden";
const noWarehouse = "404 NoSuchWarehouseException";
const noNamespace = "404 NoSuchNamespaceException";
const noTable = "404 NoSuchTableException";
const noView = "404 NoSuchViewException";
const noTabular = "404 NoSuchTabularException";
const noReading = "403 ActionForbidden";
const noGranting = "401 Unauthorized";
const notModelled = "501 NotModelled";

const change = { requirements: [], updates: [{ action: "set-properties", updates: { a: "b" } }] };
const move = { source: { namespace: ["ns"], name: "t" }, destination: { namespace: ["ns"], name: "u" } };
const grant = (type: string) => ({ writes: [{ type, user: "oidc~stranger" }] });

const management = "/management/v1";
const ofWarehouse = `${management}/warehouse/:id`;
const catalog = "/catalog/v1/:prefix";
const namespace = `${catalog}/namespaces/:namespace`;
const assignments = (path: string): string => `${management}/permissions/${path}/assignments`;

/** What the stranger gets, by route; with the body that a route needs. */
const expected: Record<string, [string] | [string, () => Json]> = {
  "GET /health": ["200"],
  [`GET ${management}/info`]: ["200"],
  [`POST ${management}/bootstrap`]: ["400 CatalogAlreadyBootstrapped", () => ({ "accept-terms-of-use": true })],
  [`GET ${management}/project`]: [noProject],
  [`POST ${management}/project`]: [noServer, () => ({ "project-name": "x" })],
  [`DELETE ${management}/project`]: [noProject],
  [`POST ${management}/project/rename`]: [noProject, () => ({ "new-name": "x" })],
  // An empty list: see the test of lists.
  [`GET ${management}/project-list`]: ["200"],
  [`GET ${management}/whoami`]: ["404 UserNotFound"],
  [`GET ${management}/user`]: [noServer],
  [`POST ${management}/user`]: [noServer, () => ({ id: "oidc~other", name: "x", "user-type": "human" })],
  // Whoever knows a user's id may see the user.
  [`GET ${management}/user/:id`]: ["200"],
  [`DELETE ${management}/user/:id`]: [noServer],
  [`POST ${management}/warehouse`]: [noProject, () => warehouseRequest(fga.world, "x")],
  [`GET ${management}/warehouse`]: [noProject],
  [`GET ${ofWarehouse}`]: [noWarehouse],
  [`DELETE ${ofWarehouse}`]: [noWarehouse],
  [`POST ${ofWarehouse}/rename`]: [noWarehouse, () => ({ "new-name": "x" })],
  [`POST ${ofWarehouse}/activate`]: [noWarehouse],
  [`POST ${ofWarehouse}/deactivate`]: [noWarehouse],
  [`POST ${ofWarehouse}/storage`]: [noWarehouse, () => warehouseRequest(fga.world, "wh")],
  [`POST ${ofWarehouse}/storage-credential`]: [noWarehouse, () => ({ "new-storage-credential": null })],
  [`POST ${ofWarehouse}/delete-profile`]: [noWarehouse, () => ({ "delete-profile": { type: "hard" } })],
  [`POST ${ofWarehouse}/protection`]: [noWarehouse, () => ({ protected: true })],
  [`POST ${ofWarehouse}/format-version-policy`]: [noWarehouse, () => ({ "allowed-format-versions": [2] })],
  [`POST ${ofWarehouse}/task/list`]: [noWarehouse, () => ({})],
  [`GET ${ofWarehouse}/deleted-tabulars`]: [noWarehouse],
  [`POST ${ofWarehouse}/deleted-tabulars/undrop`]: [
    noWarehouse,
    () => ({ targets: [{ id: wh.table, type: "table" }] }),
  ],
  [`GET ${ofWarehouse}/table/:tabular/protection`]: [noTabular],
  [`POST ${ofWarehouse}/table/:tabular/protection`]: [noTabular, () => ({ protected: true })],
  [`GET ${ofWarehouse}/view/:tabular/protection`]: [noTabular],
  [`POST ${ofWarehouse}/view/:tabular/protection`]: [noTabular, () => ({ protected: true })],
  [`GET ${ofWarehouse}/namespace/:namespaceId/protection`]: [noNamespace],
  [`POST ${ofWarehouse}/namespace/:namespaceId/protection`]: [noNamespace, () => ({ protected: true })],
  "GET /catalog/v1/config": [noWarehouse],
  [`GET ${catalog}/namespaces`]: [noWarehouse],
  [`POST ${catalog}/namespaces`]: [noWarehouse, () => ({ namespace: ["x"] })],
  [`GET ${namespace}`]: [noNamespace],
  [`HEAD ${namespace}`]: ["404"],
  [`DELETE ${namespace}`]: [noNamespace],
  [`POST ${namespace}/properties`]: [noNamespace, () => ({ updates: { a: "b" } })],
  [`GET ${namespace}/tables`]: [noNamespace],
  [`POST ${namespace}/tables`]: [noNamespace, () => ({ name: "x", schema })],
  [`POST ${namespace}/register`]: [
    noNamespace,
    () => ({ name: "x", "metadata-location": "s3://lakehouse/wh/x/metadata/0.json" }),
  ],
  [`GET ${namespace}/tables/:tabular`]: [noTable],
  [`HEAD ${namespace}/tables/:tabular`]: ["404"],
  [`POST ${namespace}/tables/:tabular`]: [noTable, () => change],
  [`DELETE ${namespace}/tables/:tabular`]: [noTable],
  [`GET ${namespace}/tables/:tabular/credentials`]: [noTable],
  // Nothing is kept of it.
  [`POST ${namespace}/tables/:tabular/metrics`]: ["204", () => ({})],
  [`POST ${catalog}/tables/rename`]: [noNamespace, () => move],
  [`POST ${catalog}/transactions/commit`]: [
    noTable,
    () => ({ "table-changes": [{ ...change, identifier: { namespace: ["ns"], name: "t" } }] }),
  ],
  [`GET ${namespace}/views`]: [noNamespace],
  [`POST ${namespace}/views`]: [noNamespace, () => ({ ...view, name: "x" })],
  [`GET ${namespace}/views/:tabular`]: [noView],
  [`HEAD ${namespace}/views/:tabular`]: ["404"],
  [`POST ${namespace}/views/:tabular`]: [noView, () => change],
  [`DELETE ${namespace}/views/:tabular`]: [noView],
  [`POST ${catalog}/views/rename`]: [noNamespace, () => ({ ...move, source: { namespace: ["ns"], name: "v" } })],
  [`GET ${assignments("server")}`]: [noReading],
  [`POST ${assignments("server")}`]: [noGranting, () => grant("admin")],
  [`GET ${assignments("project")}`]: [noReading],
  [`POST ${assignments("project")}`]: [noGranting, () => grant("select")],
  [`GET ${assignments("project/:project")}`]: [noReading],
  [`POST ${assignments("project/:project")}`]: [noGranting, () => grant("select")],
  [`GET ${assignments("warehouse/:id")}`]: [noReading],
  [`POST ${assignments("warehouse/:id")}`]: [noGranting, () => grant("ownership")],
  [`GET ${assignments("namespace/:namespace")}`]: [noReading],
  [`POST ${assignments("namespace/:namespace")}`]: [noGranting, () => grant("ownership")],
  [`GET ${assignments("warehouse/:id/table/:tabular")}`]: [noReading],
  [`POST ${assignments("warehouse/:id/table/:tabular")}`]: [noGranting, () => grant("ownership")],
  [`GET ${assignments("warehouse/:id/view/:tabular")}`]: [noReading],
  [`POST ${assignments("warehouse/:id/view/:tabular")}`]: [noGranting, () => grant("ownership")],
  [`GET ${management}/permissions/*`]: [notModelled],
  [`POST ${management}/permissions/*`]: [notModelled],
};

const all = [...routes, ...permissionRoutes].map(({ method, path }) => `${method} ${path}`);

/** The path of a route with what the warehouse has in place of its parameters. */
function pathOf(route: string): string {
  const isView = route.includes("/view");
  const byId = route.includes("/management/");
  const values: Record<string, string> = {
    ":id": route.includes("/user/") ? "oidc~operator" : wh.id,
    ":prefix": wh.id,
    ":project": "00000000-0000-0000-0000-000000000000",
    ":namespaceId": wh.namespace,
    ":namespace": byId ? wh.namespace : "ns",
    ":tabular": byId ? (isView ? viewId : wh.table) : isView ? "v" : "t",
    "*": "check",
  };
  const [, path = ""] = route.split(" ");
  const filled = path.replaceAll(/:\w+|\*/g, (name) => values[name]!);
  return filled === "/catalog/v1/config" ? `${filled}?warehouse=wh` : filled;
}

test("each route has its line here", () => {
  expect(Object.keys(expected).sort()).toEqual([...all].sort());
});

async function outcome(call: Client, route: string, headers: Record<string, string> = {}): Promise<string> {
  const [method = ""] = route.split(" ");
  const reply = await call(method, pathOf(route), expected[route]![1]?.(), headers);
  return `${reply.status} ${reply.type ?? ""}`.trim();
}

test.each(all)("%s", async (route) => {
  expect(await outcome(stranger, route)).toBe(expected[route]![0]);
});

// The server remembers which requests have succeeded, and that is no way around permissions either.
test.each(all.filter((route) => /^(POST|DELETE) .catalog/.test(route) && !route.endsWith("/metrics")))(
  "%s with an idempotency key",
  async (route) => {
    expect(await outcome(stranger, route, { "idempotency-key": randomUUID() })).toBe(expected[route]![0]);
  },
);

const changes = all.filter(
  (route) => /^(POST|DELETE)/.test(route) && expected[route]![0].startsWith("404") && !route.endsWith("/task/list"),
);

test.each(changes)("%s, by an onlooker", async (route) => {
  expect(await outcome(onlooker, route)).toMatch(/^403 (Warehouse|Namespace|Table|View)ActionForbidden$/);
});

test.each([
  [`POST ${catalog}/tables/rename`, "403 TableActionForbidden"],
  [`POST ${catalog}/views/rename`, "403 ViewActionForbidden"],
])("%s, by a creator, who may put something there, but not take this away", async (route, refusal) => {
  expect(await outcome(creator, route)).toBe(refusal);
});

test("all of it is there for the operator, as it was", async () => {
  for (const route of [
    `GET ${ofWarehouse}`,
    `GET ${namespace}`,
    `GET ${namespace}/tables/:tabular`,
    `GET ${namespace}/views/:tabular`,
  ])
    expect([route, await outcome(fga.operator, route)]).toEqual([route, "200"]);
  const { body } = await fga.operator("GET", `${wh.path}/namespaces/ns/tables/t`);
  expect(body).not.toMatchObject({ metadata: { properties: { a: "b" } } });
});
