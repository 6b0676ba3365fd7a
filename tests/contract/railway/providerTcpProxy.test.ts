import tcpProxy, { type TcpProxyInputs } from "../../../sdks/railway/tcpProxy.provider.ts";
import type { TestRailway } from "./support.ts";
import {
  NO_DELETION,
  OUTLIVED,
  placeWithService,
  stage,
  startProviders,
  stopProviders,
  times,
} from "./providerWorld.ts";
import { failureOf } from "./sdkWorld.ts";

let railway: TestRailway;
let inputs: TcpProxyInputs;

beforeEach(async () => {
  railway = await startProviders();
  inputs = { ...(await placeWithService(railway)), applicationPort: 5432 };
});
afterEach(() => stopProviders(railway));

const fault = (operation: string, what: string) => railway.faults.add(`POST /graphql/v2/${operation}, ${what}`);

test("a proxy is made by a patch, awaited until it shows, and is no difference then", async () => {
  const { id, outs } = await tcpProxy.create(inputs);
  expect(outs).toEqual({ ...inputs, domain: "127.0.0.1", proxyPort: expect.any(Number) as number });
  expect(railway.liveObjects().tcpProxies).toEqual(["5432"]);
  expect(times(railway, "tcpProxyCreate")).toBe(0);
  expect(await tcpProxy.read(id, outs)).toEqual({ id, props: outs });
  expect(await tcpProxy.diff(id, outs, inputs)).toEqual({ changes: false, replaces: [], deleteBeforeReplace: false });
});

test("another port replaces it, the old one first: a service has one at most", async () => {
  const { id, outs } = await tcpProxy.create(inputs);
  const other = { ...inputs, applicationPort: 8181 };
  expect(await tcpProxy.diff(id, outs, other)).toEqual({
    changes: true,
    replaces: ["applicationPort"],
    deleteBeforeReplace: true,
  });
  await tcpProxy.delete(id, outs);
  expect((await tcpProxy.create(other)).outs.applicationPort).toBe(8181);
  expect(railway.liveObjects().tcpProxies).toEqual(["8181"]);
});

test("7.3.8 while a person has staged changes nothing is committed, and the error says what to do", async () => {
  await stage(railway, inputs);
  await expect(tcpProxy.create(inputs)).rejects.toThrow(/1 staged changes.*Deploy or discard them/);
  expect(times(railway, "environmentPatchCommit")).toBe(0);
  expect(railway.liveObjects().tcpProxies).toEqual([]);
});

test("7.3.14 proxies that are made at once are committed one after the other", async () => {
  const { projectId, environmentId } = inputs;
  const create = "mutation ($input: ServiceCreateInput!) { serviceCreate(input: $input) { id } }";
  const services = await Promise.all(
    ["a", "b", "c"].map((name) =>
      railway.call<{ serviceCreate: { id: string } }>(create, { input: { projectId, environmentId, name } }),
    ),
  );
  fault("environmentPatchCommit", "delay 30");
  await Promise.all(services.map(({ serviceCreate: { id } }) => tcpProxy.create({ ...inputs, serviceId: id })));
  expect(railway.liveObjects().tcpProxies).toHaveLength(3);
  // Each looks for staged changes after the commit before it, and not all of them at the beginning.
  const order = railway.calls.map(({ operation }) => operation).filter((one) => /^environment/.test(one));
  const commits = order.slice(order.indexOf("environmentPatchCommit") - 1);
  expect(commits.filter((_, index) => index % 2 === 1)).toEqual(Array(3).fill("environmentPatchCommit"));
});

test.each(OUTLIVED)("7.3.2 made in spite of a fault, it is there once: %s", async (what) => {
  fault("environmentPatchCommit", what);
  const { id, outs } = await tcpProxy.create(inputs);
  expect(railway.liveObjects().tcpProxies).toEqual(["5432"]);
  expect(await tcpProxy.read(id, outs)).toEqual({ id, props: outs });
});

test.each(OUTLIVED)("7.3.2 deleted in spite of a fault: %s", async (what) => {
  const { id, outs } = await tcpProxy.create(inputs);
  fault("tcpProxyDelete", what);
  await tcpProxy.delete(id, outs);
  expect(railway.liveObjects().tcpProxies).toEqual([]);
});

test("7.3.1 one that does not become active keeps its id, and the next update continues", async () => {
  const { tcpProxyCreate } = await railway.call<{ tcpProxyCreate: { id: string } }>(
    "mutation ($input: TCPProxyCreateInput!) { tcpProxyCreate(input: $input) { id } }",
    { input: { environmentId: inputs.environmentId, serviceId: inputs.serviceId, applicationPort: 5432 } },
  );
  await new Promise((resolve) => setTimeout(resolve, 30));
  const failure = await failureOf(tcpProxy.create(inputs));
  expect(failure).toMatchObject({ id: tcpProxyCreate.id, properties: { applicationPort: 5432 } });
  expect(failure.message).toContain("it is CREATING");
  const proxy = railway.account.store.get("tcpProxies", tcpProxyCreate.id)!;
  railway.account.store.save("tcpProxies", Object.assign(proxy, { awaitsDeployment: false }));
  const outs = { ...inputs, domain: "", proxyPort: 0 };
  expect((await tcpProxy.update(tcpProxyCreate.id, outs, inputs)).outs.proxyPort).toBe(proxy.proxyPort);
});

test("7.3.3 what a killed run has made is taken over, also before it shows up", async () => {
  const killed = await tcpProxy.create(inputs);
  expect(await tcpProxy.create(inputs)).toEqual(killed);
  await tcpProxy.delete(killed.id, killed.outs);
  const patch = { services: { [inputs.serviceId]: { networking: { tcpProxies: { 5432: {} } } } } };
  await railway.call(
    "mutation ($e: String!, $patch: EnvironmentConfig) { environmentPatchCommit(environmentId: $e, patch: $patch) }",
    { e: inputs.environmentId, patch },
  );
  await tcpProxy.create(inputs);
  expect(railway.liveObjects().tcpProxies).toEqual(["5432"]);
});

test("7.3.3 a proxy to another port is refused and left alone", async () => {
  await tcpProxy.create({ ...inputs, applicationPort: 9000 });
  await expect(tcpProxy.create(inputs)).rejects.toThrow(/has a TCP proxy already .* to port 9000.*left alone/);
  expect(railway.liveObjects().tcpProxies).toEqual(["9000"]);
});

test("one that is gone is made anew after a refresh; without one, an update says so", async () => {
  const { id, outs } = await tcpProxy.create(inputs);
  await tcpProxy.delete(id, outs);
  await tcpProxy.delete(id, outs);
  expect(await tcpProxy.read(id, outs)).toEqual({});
  await expect(tcpProxy.update(id, outs, inputs)).rejects.toThrow("pulumi up --refresh");
  await railway.call("mutation ($id: String!) { projectDelete(id: $id) }", { id: inputs.projectId });
  expect(await tcpProxy.read(id, outs)).toEqual({});
});

test.each(NO_DELETION)("7.3.10 neither a refresh nor a deletion takes it for gone: %s", async (what) => {
  const { id, outs } = await tcpProxy.create(inputs);
  fault("tcpProxies", what);
  fault("tcpProxyDelete", what);
  await expect(tcpProxy.read(id, outs)).rejects.toThrow("the TCP proxy of service");
  await expect(tcpProxy.delete(id, outs)).rejects.toThrow("the TCP proxy of service");
  expect(railway.liveObjects().tcpProxies).toEqual(["5432"]);
});

test("what is wrong with the inputs shows in the preview; what is not known yet is a change", async () => {
  const { failures } = await tcpProxy.check({}, { ...inputs, applicationPort: 70_000 });
  expect(failures.map(({ reason }) => reason)).toEqual(["applicationPort must be a port, 1 to 65535, not 70000"]);
  const { id, outs } = await tcpProxy.create(inputs);
  const unknown = { ...inputs, serviceId: "04da6b54-80e4-46f7-96ec-b56ff0331ba9" };
  expect(await tcpProxy.diff(id, outs, unknown)).toEqual({ changes: true });
});
