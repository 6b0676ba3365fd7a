import { clock } from "../../../clients/retry.ts";
import service, { type ServiceInputs } from "../../../sdks/railway/service.provider.ts";
import variables, { type VariableCollectionInputs } from "../../../sdks/railway/variableCollection.provider.ts";
import { worldIn, type EmulatorWorld } from "./emulatorWorld.ts";
import type { TestRailway } from "./support.ts";
import { NO_DELETION, OUTLIVED, startProviders, stopProviders, times } from "./providerWorld.ts";
import { failureOf } from "./sdkWorld.ts";

let railway: TestRailway;
let world: EmulatorWorld;
let inputs: ServiceInputs;

beforeEach(async () => {
  railway = await startProviders();
  world = await worldIn(railway);
  inputs = {
    projectId: world.projectId,
    environmentId: world.environmentId,
    name: "web",
    sourceImage: "web:1",
    startCommand: "run",
    numReplicas: 2,
    limits: { memoryGB: 2 },
  };
});
afterEach(() => stopProviders(railway));

const fault = (operation: string, what: string) => railway.faults.add(`POST /graphql/v2/${operation}, ${what}`);
/** What a read of a service asks for at once. */
const ENVIRONMENT = "project*environment";
const deployments = async (serviceId: string) => (await world.deploymentsOf(serviceId)).length;

describe("a service", () => {
  test("7.3.5 is made with its settings, read without a difference, and nothing is deployed", async () => {
    const { id, outs } = await service.create(inputs);
    const { props } = await service.read(id, outs);
    expect(props).toEqual(outs);
    expect((await service.diff(id, props!, inputs)).changes).toBe(false);
    expect(railway.liveObjects().services).toEqual(["web"]);
    expect(await deployments(id)).toBe(0);
  });

  test("7.3.6 keeps its replicas when something else changes; what is not given any more is taken away", async () => {
    const { id, outs } = await service.create(inputs);
    const { projectId, environmentId, name, sourceImage, numReplicas } = inputs;
    const rest = { projectId, environmentId, name, sourceImage, numReplicas, healthcheckPath: "/health" };
    expect(await service.diff(id, outs, rest)).toMatchObject({ changes: true, replaces: [] });
    const updated = await service.update(id, outs, rest);
    expect((await service.read(id, updated.outs)).props?.observed).toMatchObject({
      replicas: { "": 2 },
      healthcheckPath: "/health",
      startCommand: null,
      memoryGB: null,
    });
    expect(await deployments(id)).toBe(0);
  });

  test("7.3.4 is renamed in place; a name that is too long shows in the preview", async () => {
    const { id, outs } = await service.create(inputs);
    await service.update(id, outs, { ...inputs, name: "serve" });
    expect(railway.liveObjects().services).toEqual(["serve"]);
    const { failures } = await service.check({}, { ...inputs, name: "x".repeat(33) });
    expect(failures).toHaveLength(1);
  });

  test("7.3.9 whose settings a person has changed is drift, another spelling of them is none", async () => {
    const { id, outs } = await service.create(inputs);
    await world.update(id, { numReplicas: 2, source: { image: "docker.io/library/web:1" } });
    const same = (await service.read(id, outs)).props!;
    expect((await service.diff(id, same, inputs)).changes).toBe(false);
    await world.update(id, { numReplicas: 5 });
    // What this process has read is shared for a few seconds.
    await clock.sleep(5_000);
    const { props } = await service.read(id, outs);
    expect((await service.diff(id, props!, inputs)).changes).toBe(true);
    await service.update(id, props!, inputs);
    expect((await service.read(id, outs)).props?.observed?.replicas).toEqual({ "": 2 });
  });

  test("is gone after its deletion, which may be repeated", async () => {
    const { id, outs } = await service.create(inputs);
    await service.delete(id, outs);
    expect(railway.liveObjects().services).toEqual([]);
    expect(await service.read(id, outs)).toEqual({});
    await service.delete(id, outs);
  });

  test("7.3.1 whose settings are refused keeps its id, and the next update sets them", async () => {
    fault("serviceInstanceUpdate", 'first 1, body {"data":null,"errors":[{"message":"Invalid input"}]}');
    const failure = await failureOf(service.create(inputs));
    expect(failure.message).toContain("Invalid input");
    const { outs } = await service.update(failure.id!, failure.properties as never, inputs);
    expect((await service.diff(failure.id!, (await service.read(failure.id!, outs)).props!, inputs)).changes).toBe(
      false,
    );
    expect(railway.liveObjects().services).toEqual(["web"]);
  });

  test.each(OUTLIVED)("7.3.2 is made, set and deleted once in spite of a fault: %s", async (what) => {
    fault("serviceCreate", what);
    fault("serviceInstanceUpdate", what);
    fault("serviceInstanceLimitsUpdate", what);
    const { id, outs } = await service.create(inputs);
    expect(railway.liveObjects().services).toEqual(["web"]);
    expect((await service.diff(id, (await service.read(id, outs)).props!, inputs)).changes).toBe(false);
    fault("serviceDelete", what);
    await service.delete(id, outs);
    expect(railway.liveObjects().services).toEqual([]);
  });

  test("7.3.3 that is there is adopted and brought to its inputs, unless that is not wanted", async () => {
    const theirs = await world.service("web", { startCommand: "theirs" });
    await expect(service.create({ ...inputs, adopt: false })).rejects.toThrow("It was left alone");
    const { id, outs } = await service.create(inputs);
    expect(id).toBe(theirs);
    expect((await service.read(id, outs)).props?.observed).toMatchObject({ startCommand: "run" });
    expect(railway.liveObjects().services).toEqual(["web"]);
  });

  test.each(NO_DELETION)("7.3.10 is not taken for deleted: %s", async (what) => {
    const { id, outs } = await service.create(inputs);
    fault(ENVIRONMENT, what);
    await expect(service.read(id, outs)).rejects.toThrow(`environment ${world.environmentId}`);
  });

  test("7.3.14 made with ten others at once, each is there once, and never more than five calls are under way", async () => {
    const names = Array.from({ length: 10 }, (_, index) => `web-${index}`);
    await Promise.all(names.map((name) => service.create({ ...inputs, name })));
    expect([...railway.liveObjects().services].sort()).toEqual(names);
    expect(railway.mostAtOnce).toBeLessThanOrEqual(5);
  });
});

describe("variables", () => {
  const SECRET = "hush-hush-hush";
  let collection: VariableCollectionInputs;
  beforeEach(async () => {
    const { projectId, environmentId } = world;
    const serviceId = await world.service("db", { numReplicas: 1 });
    collection = { projectId, environmentId, serviceId, variables: { PORT: "8181", PASSWORD: SECRET } };
  });

  test("7.3.3 7.3.5 are set, changed and removed beside those of others, and nothing is deployed", async () => {
    const { serviceId } = collection;
    await world.setVariables(serviceId, { FOREIGN: "x" });
    const { id, outs } = await variables.create(collection);
    expect(await variables.read(id, outs)).toEqual({ id, props: outs });
    expect((await variables.diff(id, outs, collection)).changes).toBe(false);
    const { outs: after } = await variables.update(id, outs, { ...collection, variables: { PORT: "9000" } });
    expect(railway.account.instance(serviceId, world.environmentId).variables).toEqual({ FOREIGN: "x", PORT: "9000" });
    await variables.delete(id, after);
    expect(railway.account.instance(serviceId, world.environmentId).variables).toEqual({ FOREIGN: "x" });
    expect(await deployments(serviceId)).toBe(0);
  });

  test("that a person has changed are drift; a reference is kept as it is written", async () => {
    collection.variables["URL"] = "${{db.PORT}}/x";
    const { id, outs } = await variables.create(collection);
    expect((await variables.read(id, outs)).props).toEqual(outs);
    await world.setVariables(collection.serviceId, { PORT: "1" });
    const { props } = await variables.read(id, outs);
    expect((await variables.diff(id, props!, collection)).changes).toBe(true);
  });

  test("7.3.13 that a person has sealed are no drift, and a removal beside them loses none", async () => {
    const { id, outs } = await variables.create(collection);
    const sealed = { services: { [collection.serviceId]: { variables: { FOREIGN: { value: "s", isSealed: true } } } } };
    await world.commit(sealed);
    await variables.update(id, outs, { ...collection, variables: { PORT: "8181" } });
    expect(railway.account.instance(collection.serviceId, world.environmentId)).toMatchObject({
      variables: { PORT: "8181", FOREIGN: "s" },
      sealed: ["FOREIGN"],
    });
  });

  test.each(OUTLIVED)("7.3.2 are set, and removed, in spite of a fault: %s", async (what) => {
    fault("variableCollectionUpsert", what);
    const { id, outs } = await variables.create(collection);
    expect((await variables.read(id, outs)).props).toEqual(outs);
    fault("variableCollectionUpsert", what);
    await variables.delete(id, outs);
    expect(railway.account.instance(collection.serviceId, world.environmentId).variables).toEqual({});
    expect(await deployments(collection.serviceId)).toBe(0);
  });

  test.each(NO_DELETION)("7.3.10 7.3.13 are not taken for deleted, and no message shows a value: %s", async (what) => {
    const { id, outs } = await variables.create(collection);
    fault("variables", what);
    fault("variableCollectionUpsert", what);
    await expect(variables.read(id, outs)).rejects.toThrow("the variables of service");
    const failure = await failureOf(
      variables.update(id, outs, { ...collection, variables: { PASSWORD: SECRET + "2" } }),
    );
    expect(failure.message).not.toContain(SECRET);
    const { variables: stored } = railway.account.instance(collection.serviceId, world.environmentId);
    expect(stored).toEqual(collection.variables);
  });

  test("are gone with their service, whose deletion is no failure of theirs", async () => {
    const { id, outs } = await variables.create(collection);
    await railway.call("mutation ($id: String!) { serviceDelete(id: $id) }", { id: collection.serviceId });
    expect(await variables.read(id, outs)).toEqual({});
    await variables.delete(id, outs);
    expect(times(railway, "variableDelete")).toBe(0);
  });
});
