import { Lakekeeper, withCatalog, type Assignment } from "../../../clients/lakekeeper.ts";
import type { Connection } from "../../../clients/token.ts";
import grants, { type GrantsInputs, type GrantsOutputs } from "../../../providers/grants.provider.ts";
import { Proxy, refusal } from "../../support/proxy.ts";
import { GrantsWorld } from "./grantsWorld.ts";

let world: GrantsWorld;
let proxy: Proxy;
let operator: Connection;
let connection: Connection;
let warehouseId: string;

beforeAll(async () => {
  world = await GrantsWorld.start();
  operator = await world.as("operator", await world.catalog("grants"));
  await directly((lakekeeper) => lakekeeper.bootstrap(true));
  proxy = await new Proxy(operator.uri).start();
  connection = { ...operator, uri: proxy.uri };
});
afterAll(async () => {
  await proxy.stop();
  await world.close();
});

let count = 0;
const makeWarehouse = () => world.makeWarehouse(operator, `w${count++}`);
beforeEach(async () => {
  warehouseId = await makeWarehouse();
  proxy.reset();
});

const OWNER = "oidc~operator ownership";
const one = (user: string, type: string): Assignment => ({ type, user: `oidc~${user}` });
const WANTED = [one("runner", "create"), one("runner", "modify"), one("karma", "select")];

const inputs = (assignments = WANTED): GrantsInputs => ({ connection, warehouse: "wh", warehouseId, assignments });

async function made(assignments = WANTED): Promise<GrantsOutputs> {
  const { id, outs } = await grants.create(inputs(assignments));
  expect(id).toBe(warehouseId);
  proxy.reset();
  return outs;
}

function directly<T>(work: (lakekeeper: Lakekeeper) => Promise<T>): Promise<T> {
  return withCatalog(operator, (http) => work(new Lakekeeper(http)));
}

/** By hand. */
const change = (writes: Assignment[], deletes: Assignment[] = []) =>
  directly((lakekeeper) => lakekeeper.changeWarehouseAssignments(warehouseId, writes, deletes));

async function there(): Promise<string[]> {
  const all = await directly((lakekeeper) => lakekeeper.warehouseAssignments(warehouseId));
  return all
    .map(({ type, user }) => `${user} ${type}`)
    .filter((text) => text !== OWNER)
    .sort();
}

const ALL = ["oidc~karma select", "oidc~runner create", "oidc~runner modify"];
/** What was sent to change anything. */
const sent = () =>
  proxy.calls.filter(({ call }) => call.startsWith("POST")).map(({ body }) => JSON.parse(body) as object);

test("what is missing is granted in one request, and is the stack's own", async () => {
  const { outs } = await grants.create(inputs());
  expect(outs).toEqual({ ...inputs(), owned: WANTED });
  expect(sent()).toEqual([{ writes: WANTED, deletes: [] }]);
  expect(await there()).toEqual(ALL);
  expect(await grants.diff(warehouseId, outs, inputs([...WANTED].reverse()))).toEqual({ changes: false });
});

test("what is there already is adopted, not written again, and stays when the resource goes", async () => {
  await change([one("karma", "select")]);
  const outs = await made();
  expect(outs.owned).toEqual([one("runner", "create"), one("runner", "modify")]);
  await grants.delete(warehouseId, outs);
  expect(await there()).toEqual(["oidc~karma select"]);
});

test("a refresh sees what was taken by hand, and an update gives that back and nothing else", async () => {
  const outs = await made();
  await change([one("alice", "describe")], [one("karma", "select")]);
  const { props } = await grants.read(warehouseId, outs);
  expect(props?.assignments).toEqual([one("runner", "create"), one("runner", "modify")]);
  expect(await grants.diff(warehouseId, props!, inputs())).toEqual({ changes: true });

  const updated = await grants.update(warehouseId, props!, inputs());
  expect(sent()).toEqual([{ writes: [one("karma", "select")], deletes: [] }]);
  expect(await there()).toEqual(["oidc~alice describe", ...ALL]);
  const sorted = (some: readonly Assignment[]) => some.map(({ type, user }) => `${user} ${type}`).sort();
  expect(sorted(updated.outs.owned)).toEqual(ALL);
});

test("what is not wanted any more is taken away, unless it was somebody else's", async () => {
  await change([one("karma", "select")]);
  const outs = await made();
  const { outs: less } = await grants.update(warehouseId, outs, inputs([one("runner", "modify")]));
  expect(sent()).toEqual([{ writes: [], deletes: [one("runner", "create")] }]);
  expect(less.owned).toEqual([one("runner", "modify")]);
  expect(await there()).toEqual(["oidc~karma select", "oidc~runner modify"]);
});

test("an update that has nothing to write writes nothing", async () => {
  await grants.update(warehouseId, await made(), inputs());
  expect(sent()).toEqual([]);
});

test("an answer that is lost after the work was done is no error, and what was made is the stack's own", async () => {
  let lost = false;
  proxy.fault = (call) => {
    if (lost || !call.startsWith("POST")) return undefined;
    lost = true;
    return "lose";
  };
  const { outs } = await grants.create(inputs());
  expect(outs.owned).toEqual(WANTED);
  expect(await there()).toEqual(ALL);
});

test("somebody who grants or takes the same in between is no error", async () => {
  const outs = await made([one("runner", "create"), one("karma", "select")]);
  let interfered = false;
  proxy.fault = (call) => {
    if (interfered || !call.startsWith("POST")) return undefined;
    interfered = true;
    return refusal(404, "TupleNotFoundError");
  };
  await grants.update(warehouseId, outs, inputs([one("runner", "modify")]));
  expect(await there()).toEqual(["oidc~runner modify"]);
});

test("deleting takes away what is the stack's own, and what is gone already is success", async () => {
  const outs = await made();
  await change([], [one("karma", "select")]);
  await grants.delete(warehouseId, outs);
  expect(await there()).toEqual([]);
  await grants.delete(warehouseId, outs);
  expect(sent()).toHaveLength(1);
});

test("a warehouse that is gone takes its grants with it", async () => {
  const outs = await made();
  const id = await makeWarehouse();
  await directly((lakekeeper) => lakekeeper.deleteWarehouse(id));
  const gone = { ...outs, warehouseId: id };
  expect(await grants.read(id, gone)).toEqual({});
  await grants.delete(id, gone);
  expect(sent()).toEqual([]);
});

test("somebody who may not see the grants takes nothing for gone", async () => {
  const outs = await made();
  const blind = { ...outs, connection: await world.as("nobody", proxy.uri) };
  await expect(grants.read(warehouseId, blind)).rejects.toThrow(/403 .*The identity of the deployer may not do this/);
  await expect(grants.delete(warehouseId, blind)).rejects.toThrow("403 ");
  expect(await there()).toEqual(ALL);
});

test("somebody who may see and not grant is told so, and not that his token is wrong", async () => {
  await change([one("seer", "pass_grants"), one("seer", "describe")]);
  const seer = await world.as("seer", proxy.uri);
  await expect(grants.create({ ...inputs(), connection: seer })).rejects.toThrow(
    /401 Unauthorized - .*may not grant this: make it operator/,
  );
});

test("a server that does not answer leaves the state as it is", async () => {
  const outs = await made();
  const said = jest.spyOn(console, "log").mockImplementation();
  proxy.fault = () => "cut";
  expect(await grants.read(warehouseId, outs)).toEqual({ id: warehouseId, props: outs });
  said.mockRestore();
});

test("another warehouse is another resource", async () => {
  const outs = await made();
  expect(await grants.diff(warehouseId, outs, { ...inputs(), warehouseId: "another" })).toEqual({
    changes: true,
    replaces: ["warehouseId"],
    deleteBeforeReplace: true,
  });
});

test("bad input is named in the preview, without the secret", async () => {
  const wrong = [one("a", "write"), { type: "select", user: "karma" }, one("b", "select"), one("b", "select")];
  const { failures } = await grants.check({}, inputs(wrong));
  expect(failures.map(({ reason }) => reason)).toEqual([
    'assignments.0.type must be one of ownership, pass_grants, manage_grants, describe, select, create, modify, not "write"',
    'assignments.1.user must be a user of Lakekeeper, such as oidc~ml-runner, not "karma"',
  ]);
  const twice = await grants.check({}, inputs(wrong.slice(2)));
  expect(twice.failures.map(({ reason }) => reason)).toEqual(["assignments.1 is there twice: select of oidc~b"]);
});
