import { setTimeout as delay } from "node:timers/promises";
import type { Container, ContainerSpec, Log } from "../../../emulators/railway/runtime.ts";
import { eventually, refusal, worldIn, type EmulatorWorld } from "./emulatorWorld.ts";
import { startTestRailway, type TestRailway } from "./support.ts";

// The life of a deployment, where it is more than a start and an end.

let railway: TestRailway;
let world: EmulatorWorld;

beforeEach(async () => {
  railway = await startTestRailway({
    delays: { visible: 0, backup: 0, second: 20, restart: 1, volumeDeletion: 50, probe: 2 },
  });
  world = await worldIn(railway);
});
afterEach(() => railway.stop());

const HEALTH = { healthcheckPath: "/health" };

async function active(settings: object = {}): Promise<{ serviceId: string; id: string }> {
  const serviceId = await world.service("Web", settings);
  const id = await world.deploy(serviceId);
  await world.status(id, "SUCCESS");
  return { serviceId, id };
}

interface Story {
  readonly deploymentEvents: {
    readonly edges: {
      readonly node: {
        readonly step: string;
        readonly completedAt: string | null;
        readonly payload: { error?: string; attempt?: number } | null;
      };
    }[];
  };
}

async function events(id: string): Promise<Story["deploymentEvents"]["edges"][number]["node"][]> {
  const story = await railway.call<Story>(
    "query ($id: String!) { deploymentEvents(id: $id, first: 20) { edges { node { step completedAt payload { error attempt } } } } }",
    { id },
  );
  return story.deploymentEvents.edges.map(({ node }) => node);
}

describe("what a container is given", () => {
  test("the port that it is to listen on, Railway's variables and the addresses of the others", async () => {
    const database = await world.service("My Database");
    const { id } = await active();
    const { spec } = railway.runtime.last("Web");
    expect(spec.environment).toMatchObject({ PORT: "8080", RAILWAY_DEPLOYMENT_ID: id, RAILWAY_SERVICE_NAME: "Web" });
    expect(Object.keys(spec.hosts).sort()).toEqual(["my-database", "web"]);
    expect(spec.hosts["my-database"]).toBe(railway.account.instance(database, world.environmentId).address);
  });

  test("variables as they were when it was deployed, its own port among them", async () => {
    const serviceId = await world.service("Web", HEALTH);
    await world.setVariables(serviceId, { PORT: "8181", GREETING: "old" });
    railway.runtime.behaviour = () => ({ health: 503 });
    const id = await world.deploy(serviceId);
    await world.setVariables(serviceId, { GREETING: "new" });
    await world.status(id, "DEPLOYING");
    expect(railway.runtime.last("Web").spec.environment).toMatchObject({ PORT: "8181", GREETING: "old" });
  });

  test("its volume, at an address that is the same for all its deployments", async () => {
    const serviceId = await world.service("Web", {});
    const volumeId = await world.volume(serviceId, { mountPath: "/var/data" });
    const first = await world.deploy(serviceId);
    await world.status(first, "SUCCESS");
    const { spec } = railway.runtime.last("Web");
    expect(spec.volume).toMatchObject({
      mountPath: "/var/data",
      directory: expect.stringContaining(volumeId) as string,
    });
    expect(spec.environment["RAILWAY_VOLUME_MOUNT_PATH"]).toBe("/var/data");
    await world.status(await world.deploy(serviceId), "SUCCESS");
    expect(railway.runtime.last("Web").spec.address).toBe(spec.address);
  });
});

describe("one after another", () => {
  test("without a volume both serve for the overlap, and then the old one has the draining time", async () => {
    const { serviceId, id } = await active({ overlapSeconds: 10, drainingSeconds: 7 });
    const old = railway.runtime.last("Web");
    const started = Date.now();
    const next = await world.deploy(serviceId);
    await world.status(next, "SUCCESS");
    expect(await world.deployment(id)).toMatchObject({ status: "SUCCESS", deploymentStopped: false });
    await world.status(id, "REMOVED");
    expect(Date.now() - started).toBeGreaterThanOrEqual(200);
    expect(old.stoppedWith).toBe((7 * 20) / 1_000);
    expect(await world.deployment(id)).toMatchObject({ deploymentStopped: true, instances: [{ status: "REMOVED" }] });
  });

  test("with a volume the old one ends before the new one starts, with the time that a variable gives it", async () => {
    const serviceId = await world.service("Web", {});
    await world.volume(serviceId);
    await world.setVariables(serviceId, { RAILWAY_DEPLOYMENT_DRAINING_SECONDS: "60" });
    await world.status(await world.deploy(serviceId), "SUCCESS");
    const old = railway.runtime.last("Web");
    const running: number[] = [];
    railway.runtime.behaviour = () => {
      running.push(railway.runtime.containers.filter(({ isRunning }) => isRunning).length);
      return { health: 200 };
    };
    await world.status(await world.deploy(serviceId), "SUCCESS");
    expect(running).toEqual([0]);
    expect(old.stoppedWith).toBe((60 * 20) / 1_000);
  });

  test("of several at once only the last one is left", async () => {
    const serviceId = await world.service("Web", {});
    const ids = await Promise.all(Array.from({ length: 5 }, () => world.deploy(serviceId)));
    const [latest] = await world.deploymentsOf(serviceId);
    for (const id of ids.filter((one) => one !== latest?.id)) await world.status(id, "REMOVED");
    await world.status(latest!.id, "SUCCESS");
    await eventually(
      async () => railway.runtime.containers.filter(({ isRunning }) => isRunning).length === 1 || undefined,
    );
  });

  test("one that is taken away while its container is being started leaves none", async () => {
    const serviceId = await world.service("Web", {});
    const start = railway.runtime.start.bind(railway.runtime);
    const gate = Promise.withResolvers<undefined>();
    railway.runtime.start = async (spec: ContainerSpec, log: Log): Promise<Container> => {
      await gate.promise;
      return start(spec, log);
    };
    const id = await world.deploy(serviceId);
    const removed = railway.call("mutation ($id: String!) { deploymentRemove(id: $id) }", { id });
    await world.status(id, "REMOVING");
    gate.resolve(undefined);
    await removed;
    expect(railway.runtime.last("Web").isRunning).toBe(false);
    expect(await world.deployment(id)).toMatchObject({ status: "REMOVED", deploymentStopped: true });
  });
});

describe("a health check", () => {
  test("has no say any more once it was passed", async () => {
    const { id } = await active(HEALTH);
    railway.runtime.last("Web").health = 500;
    await delay(30);
    expect(await world.deployment(id)).toMatchObject({ status: "SUCCESS", deploymentStopped: false });
  });

  test("that nothing answers is tried until its timeout, which a variable can set", async () => {
    const serviceId = await world.service("Web", HEALTH);
    await world.setVariables(serviceId, { RAILWAY_HEALTHCHECK_TIMEOUT_SEC: "50" });
    railway.runtime.behaviour = () => ({});
    const id = await world.deploy(serviceId);
    await world.status(id, "FAILED");
    const check = (await events(id)).find(({ step }) => step === "HEALTHCHECK");
    expect(check?.payload?.error).toBe("no 200 at /health within 50 s");
    expect(check?.payload?.attempt).toBeGreaterThan(1);
    expect(railway.runtime.last("Web").isRunning).toBe(false);
  });

  test("of what crashes before it answers ends with the crash", async () => {
    railway.runtime.behaviour = () => ({ exitCode: 1 });
    const serviceId = await world.service("Web", {
      ...HEALTH,
      restartPolicyType: "ON_FAILURE",
      restartPolicyMaxRetries: 1,
    });
    const id = await world.deploy(serviceId);
    expect(await world.status(id, "CRASHED")).toMatchObject({ instances: [{ status: "CRASHED" }] });
  });

  test("of what ends by itself, and well, has failed all the same", async () => {
    railway.runtime.behaviour = () => ({ exitCode: 0 });
    const id = await world.deploy(await world.service("Web", HEALTH));
    expect(await world.status(id, "FAILED")).toMatchObject({ deploymentStopped: true });
  });
});

describe("restarts", () => {
  test("ALWAYS also what has ended well", async () => {
    const { id } = await active({ restartPolicyType: "ALWAYS" });
    railway.runtime.last("Web").exit(0);
    await eventually(async () => railway.runtime.containers.length > 1 || undefined);
    expect(await world.deployment(id)).toMatchObject({ status: "SUCCESS", deploymentStopped: false });
  });

  test("a crash after some of them still has been a success before", async () => {
    railway.runtime.behaviour = () => ({});
    const { id } = await active({ restartPolicyType: "ON_FAILURE", restartPolicyMaxRetries: 2 });
    for (const count of [1, 2, 3]) {
      await eventually(async () => railway.runtime.containers.length === count || undefined);
      railway.runtime.last("Web").exit(1);
    }
    expect(await world.status(id, "CRASHED")).toMatchObject({ deploymentStopped: true });
    expect((await events(id)).filter(({ step }) => step === "CREATE_CONTAINER")).toHaveLength(3);
  });

  test("none of what somebody has stopped", async () => {
    const { id } = await active({ restartPolicyType: "ALWAYS" });
    await railway.call("mutation ($id: String!) { deploymentStop(id: $id) }", { id });
    expect(await world.deployment(id)).toMatchObject({
      status: "SUCCESS",
      deploymentStopped: true,
      instances: [{ status: "STOPPED" }],
    });
    await delay(20);
    expect(railway.runtime.containers).toHaveLength(1);
  });
});

describe("a pre-deploy command", () => {
  const settings = { preDeployCommand: ["tool migrate"], startCommand: "tool serve" };

  test("runs to its end in a container of its own, before the deployment", async () => {
    railway.runtime.behaviour = ({ startCommand }) => (startCommand === "tool migrate" ? { exitCode: 0 } : {});
    await active(settings);
    expect(railway.runtime.containers.map(({ spec }) => spec.startCommand)).toEqual(["tool migrate", "tool serve"]);
  });

  test("that fails is tried once, and the deployment has failed", async () => {
    railway.runtime.behaviour = () => ({ exitCode: 3 });
    const id = await world.deploy(await world.service("Web", settings));
    await world.status(id, "FAILED");
    expect(await events(id)).toMatchObject([
      { step: "PRE_DEPLOY_COMMAND", payload: { error: "pre-deploy command ended with exit code 3" } },
    ]);
    expect(railway.runtime.containers).toHaveLength(1);
  });
});

describe("what is listed", () => {
  test("deployments by cursor, newest first, and by status", async () => {
    const { serviceId } = await active();
    for (let count = 0; count < 2; count++) await world.status(await world.deploy(serviceId), "SUCCESS");
    const newest = (await world.deploymentsOf(serviceId)).map(({ id }) => id);
    await world.status(newest[2]!, "REMOVED");
    const seen: string[] = [];
    for (let after: string | null = null, more = true; more;) {
      const {
        deployments,
      }: { deployments: { edges: { node: { id: string } }[]; pageInfo: { hasNextPage: boolean; endCursor: string } } } =
        await railway.call(
          `query ($input: DeploymentListInput!, $after: String) {
            deployments(input: $input, first: 2, after: $after) { edges { node { id } } pageInfo { hasNextPage endCursor } }
          }`,
          { input: { serviceId }, after },
        );
      seen.push(...deployments.edges.map(({ node }) => node.id));
      ({ hasNextPage: more, endCursor: after } = deployments.pageInfo);
    }
    expect(seen).toEqual(newest);
    const { deployments } = await railway.call<{ deployments: { edges: { node: { id: string } }[] } }>(
      "query ($input: DeploymentListInput!) { deployments(input: $input) { edges { node { id } } } }",
      { input: { serviceId, status: { notIn: ["REMOVED"] } } },
    );
    expect(deployments.edges.map(({ node }) => node.id)).toEqual(newest.slice(0, 1));
  });

  test("lines of a log by time and by text", async () => {
    const { id } = await active();
    const { say } = railway.runtime.last("Web");
    say("early and good");
    await delay(5);
    const between = new Date().toISOString();
    await delay(5);
    say("late and bad", "error");
    say("late and good");
    const lines = async (more: string): Promise<string[]> =>
      (
        await railway.call<{ deploymentLogs: { message: string }[] }>(
          `query ($id: String!, $at: DateTime) { deploymentLogs(deploymentId: $id, ${more}) { message } }`,
          { id, at: between },
        )
      ).deploymentLogs.map(({ message }) => message);
    expect(await lines("startDate: $at")).toEqual(["late and bad", "late and good"]);
    expect(await lines('endDate: $at, filter: "good"')).toEqual(["early and good"]);
  });

  test("nothing of a service that is gone", async () => {
    const { serviceId, id } = await active();
    await railway.call("mutation ($id: String!) { serviceDelete(id: $id) }", { id: serviceId });
    expect(await refusal(world.deploymentsOf(serviceId))).toBe("Service not found");
    expect(await world.deployment(id)).toMatchObject({ status: "REMOVED" });
    expect(railway.runtime.last("Web").isRunning).toBe(false);
  });
});
