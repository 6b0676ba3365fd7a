import { setTimeout as delay } from "node:timers/promises";
import { refusal, worldIn, type EmulatorWorld } from "./emulatorWorld.ts";
import { startTestRailway, type TestRailway } from "./support.ts";

// Services and their variables, as Railway has them.

let railway: TestRailway;
let world: EmulatorWorld;

beforeAll(async () => {
  railway = await startTestRailway({
    // Long enough for a busy machine to see what is not there yet.
    delays: { visible: 1_000, backup: 1_000, restart: 1, volumeDeletion: 300, probe: 5 },
  });
});
afterAll(() => railway.stop());
beforeEach(async () => {
  world = await worldIn(railway);
});

const instance = (serviceId: string, fields: string): Promise<Record<string, unknown>> =>
  railway
    .call<{ serviceInstance: Record<string, unknown> }>(
      `query ($s: String!, $e: String!) { serviceInstance(serviceId: $s, environmentId: $e) { ${fields} } }`,
      { s: serviceId, e: world.environmentId },
    )
    .then((data) => data.serviceInstance);

async function visible(serviceId: string, fields = "id"): Promise<Record<string, unknown>> {
  for (;;) {
    const found = await instance(serviceId, fields).catch(() => undefined);
    if (found !== undefined) return found;
    await delay(5);
  }
}

describe("services", () => {
  test("an instance shows up after a while", async () => {
    const id = await world.service();
    expect(await refusal(instance(id, "id"))).toBe("ServiceInstance not found");
    expect(await visible(id, "serviceName restartPolicyType restartPolicyMaxRetries numReplicas")).toEqual({
      serviceName: "Web",
      restartPolicyType: "ON_FAILURE",
      restartPolicyMaxRetries: 10,
      numReplicas: 1,
    });
  });

  test("a name is taken once in a project, and has 32 characters at most", async () => {
    await world.service("Web");
    expect(await refusal(world.service("Web"))).toBe("A service with that name already exists");
    expect(await refusal(world.service("x".repeat(33)))).toContain("at most 32 characters");
  });

  test("an update deploys nothing, says false when there is nothing to change, and forgets the number of replicas", async () => {
    const id = await world.service();
    const input = { source: { image: "web:1" }, startCommand: "run", numReplicas: 3 };
    expect(await world.update(id, input)).toBe(true);
    expect(await world.update(id, input)).toBe(false);
    expect(await world.deploymentsOf(id)).toEqual([]);
    await world.update(id, { healthcheckPath: "/up" });
    expect(await visible(id, "startCommand healthcheckPath numReplicas")).toEqual({
      startCommand: "run",
      healthcheckPath: "/up",
      numReplicas: 1,
    });
    await world.update(id, { startCommand: null, numReplicas: 1 });
    expect(await visible(id, "startCommand")).toEqual({ startCommand: null });
    expect(await refusal(world.update(id, { numReplicas: 0 }))).toContain("at least 1");
  });

  test("created with a source, one is deployed at once", async () => {
    const { projectId, environmentId } = world;
    const { serviceCreate } = await railway.call<{ serviceCreate: { id: string } }>(
      "mutation ($input: ServiceCreateInput!) { serviceCreate(input: $input) { id } }",
      { input: { projectId, environmentId, name: "Web", source: { image: "web:1" } } },
    );
    const { id } = serviceCreate;
    expect(await world.deploymentsOf(id)).toHaveLength(1);
  });

  test("deleting one leaves its volume, belonging to nothing", async () => {
    const id = await world.service();
    const volumeId = await world.volume(id);
    await railway.call("mutation ($id: String!) { serviceDelete(id: $id) }", { id });
    expect(await refusal(railway.call("query ($id: String!) { service(id: $id) { id } }", { id }))).toBe(
      "Service not found",
    );
    expect(railway.account.volumeInstance(volumeId, undefined).serviceId).toBeNull();
  });
});

describe("variables", () => {
  test("references lead to other services, shared ones and Railway's own", async () => {
    const [database, web] = [await world.service("Postgres"), await world.service("Web")];
    await world.setVariables(database, {
      PGHOST: "${{RAILWAY_PRIVATE_DOMAIN}}",
      PASSWORD: "hush",
      URL: "pg://x:${{PASSWORD}}@${{PGHOST}}",
    });
    await world.setVariables(web, { DATABASE: "${{Postgres.URL}}/db", NOTHING: "[${{Nobody.X}}]" });
    expect(await world.variablesOf(web)).toMatchObject({
      DATABASE: "pg://x:hush@postgres.railway.internal/db",
      NOTHING: "[]",
      RAILWAY_PRIVATE_DOMAIN: "web.railway.internal",
    });
    expect(await world.variablesOf(web, true)).toMatchObject({ DATABASE: "${{Postgres.URL}}/db" });
  });

  test("an upsert deploys unless it is told not to, and replaces only when it is told to", async () => {
    const id = await world.service();
    await world.update(id, { source: { image: "web:1" } });
    await world.setVariables(id, { A: "1" });
    expect(await world.deploymentsOf(id)).toHaveLength(0);
    await world.setVariables(id, { B: "2" }, { skipDeploys: false });
    expect(await world.deploymentsOf(id)).toHaveLength(1);
    expect(railway.account.instance(id, world.environmentId).variables).toEqual({ A: "1", B: "2" });
    await world.setVariables(id, { C: "3" }, { replace: true });
    expect(railway.account.instance(id, world.environmentId).variables).toEqual({ C: "3" });
  });

  test("one that is not there cannot be deleted", async () => {
    const id = await world.service();
    const remove = railway.call("mutation ($input: VariableDeleteInput!) { variableDelete(input: $input) }", {
      input: { projectId: world.projectId, environmentId: world.environmentId, serviceId: id, name: "NOTHING" },
    });
    expect(await refusal(remove)).toBe("Variable not found");
  });
});
