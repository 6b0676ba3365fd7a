import { refusal, worldIn, type EmulatorWorld } from "./emulatorWorld.ts";
import { startTestRailway, type TestRailway } from "./support.ts";

// How deployments end, as Railway tells it.

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

async function deployed(settings: object = {}, name = "Web"): Promise<{ id: string; serviceId: string }> {
  const serviceId = await world.service(name, settings);
  return { serviceId, id: await world.deploy(serviceId) };
}
afterEach(() => (railway.runtime.behaviour = () => ({ health: 200 })));

test("without a source there is nothing to deploy", async () => {
  expect(await refusal(world.deploy(await world.service()))).toBe("Cannot deploy a service without a source");
});

test("one without a health check is a success as soon as it has started, and stopped once it has done its work", async () => {
  const { id } = await deployed();
  expect(await world.status(id, "SUCCESS")).toMatchObject({ deploymentStopped: false });
  railway.runtime.last("Web").exit(0);
  expect(await world.until(id, ({ deploymentStopped }) => deploymentStopped)).toMatchObject({
    status: "SUCCESS",
    instances: [{ status: "EXITED" }],
  });
});

test("one with a health check is a success only when that answers 200, and has failed at its timeout", async () => {
  railway.runtime.behaviour = () => ({ health: 503 });
  const { id } = await deployed({ healthcheckPath: "/health", healthcheckTimeout: 300 });
  await world.status(id, "DEPLOYING");
  railway.runtime.last("Web").health = 200;
  await world.status(id, "SUCCESS");

  railway.runtime.behaviour = () => ({ health: 503 });
  const { id: late } = await deployed({ healthcheckPath: "/health", healthcheckTimeout: 1 }, "Late");
  expect(await world.until(late, ({ status }) => status !== "DEPLOYING" && status !== "INITIALIZING")).toMatchObject({
    status: "FAILED",
    deploymentStopped: true,
  });
});

test.each([
  ["NEVER", 10, 1],
  ["ON_FAILURE", 2, 3],
])(
  "with %s and %i retries one that fails is started %# times and has crashed",
  async (restartPolicyType, retries, starts) => {
    const before = railway.runtime.containers.length;
    railway.runtime.behaviour = () => ({ exitCode: 1 });
    const { id } = await deployed({ restartPolicyType, restartPolicyMaxRetries: retries });
    expect(await world.status(id, "CRASHED")).toMatchObject({
      instances: [{ status: "CRASHED" }],
    });
    expect(railway.runtime.containers.length - before).toBe(starts);
  },
);

test("the one before is removed, and stays while the next one has failed", async () => {
  const { id, serviceId } = await deployed({ healthcheckPath: "/health", healthcheckTimeout: 1 });
  await world.status(id, "SUCCESS");
  railway.runtime.behaviour = () => ({ health: 500 });
  const bad = await world.deploy(serviceId);
  await world.status(bad, "FAILED");
  expect(await world.deployment(id)).toMatchObject({ status: "SUCCESS", deploymentStopped: false });
  railway.runtime.behaviour = () => ({ health: 200 });
  const good = await world.deploy(serviceId);
  await world.status(good, "SUCCESS");
  await world.status(id, "REMOVED");
});

test("an image that cannot be pulled has failed, with an event and a log that say so", async () => {
  const serviceId = await world.service();
  await world.update(serviceId, { source: { image: "no-such-image:1" } });
  const id = await world.deploy(serviceId);
  await world.status(id, "FAILED");
  const data = await railway.call<{
    deploymentEvents: { edges: { node: { step: string; payload: { error: string } } }[] };
    deploymentLogs: { message: string; severity: string }[];
  }>(
    `query ($id: String!) {
      deploymentEvents(id: $id, first: 5) { edges { node { step payload { error } } } }
      deploymentLogs(deploymentId: $id) { message severity }
    }`,
    { id },
  );
  expect(data.deploymentEvents.edges[0]?.node).toMatchObject({
    step: "CREATE_CONTAINER",
    payload: { error: expect.stringContaining("manifest unknown") as unknown },
  });
  expect(data.deploymentLogs.at(-1)).toMatchObject({ severity: "error" });
});

test("logs come with one line more than was asked for", async () => {
  const { id } = await deployed();
  await world.status(id, "SUCCESS");
  for (let line = 0; line < 5; line++) railway.runtime.last("Web").say(`line ${line}`);
  const data = await railway.call<{ deploymentLogs: { message: string }[] }>(
    "query ($id: String!) { deploymentLogs(deploymentId: $id, limit: 2) { message } }",
    { id },
  );
  expect(data.deploymentLogs.map(({ message }) => message)).toEqual(["line 2", "line 3", "line 4"]);
});
