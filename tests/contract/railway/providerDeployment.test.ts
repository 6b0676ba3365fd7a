import { clock } from "../../../clients/retry.ts";
import deployment, {
  type DeploymentInputs,
  type DeploymentOutputs,
} from "../../../sdks/railway/deployment.provider.ts";
import volume from "../../../sdks/railway/volume.provider.ts";
import { NO_DELETION, OUTLIVED, placeWithService, startProviders, stopProviders, times } from "./providerWorld.ts";
import { failureOf } from "./sdkWorld.ts";
import type { TestRailway } from "./support.ts";

let railway: TestRailway;
let inputs: DeploymentInputs;

beforeEach(async () => {
  railway = await startProviders();
  const place = await placeWithService(railway);
  inputs = { ...place, what: "web", waitFor: "running", triggers: { image: "web:1" }, timeoutSeconds: 600 };
  set({ source: { image: "web:1" } });
});
afterEach(() => stopProviders(railway));

const fault = (operation: string, what: string) => railway.faults.add(`POST /graphql/v2/${operation}, ${what}`);
const instance = () => railway.account.instance(inputs.serviceId, inputs.environmentId);
const all = () => railway.account.store.list("deployments");

/** Settings of the service, as the Service resource would have set them. */
function set(settings: Partial<ReturnType<typeof instance>["settings"]>, variables: Record<string, string> = {}): void {
  const one = instance();
  Object.assign(one.settings, settings);
  Object.assign(one.variables, variables);
  railway.account.store.save("instances", one);
}

const again = (triggers: Record<string, string>): DeploymentInputs => ({ ...inputs, triggers });

test("a service is deployed once and awaited, and is no difference then", async () => {
  const { id, outs } = await deployment.create(inputs);
  expect(id).toBe(`${inputs.serviceId}:${inputs.environmentId}`);
  expect(outs).toMatchObject({ deploymentId: all()[0]!.id, status: "SUCCESS" });
  const { props } = await deployment.read(id, outs);
  expect(await deployment.diff(id, props!, inputs)).toEqual({ changes: false, replaces: [] });
  expect(times(railway, "serviceInstanceDeployV2")).toBe(1);
});

test("another trigger deploys it anew in place; another way of waiting does not", async () => {
  const { id, outs } = await deployment.create(inputs);
  expect(await deployment.diff(id, outs, again({ image: "web:2" }))).toEqual({ changes: true, replaces: [] });
  const next = await deployment.update(id, outs, again({ image: "web:2" }));
  expect(next.outs.deploymentId).not.toBe(outs.deploymentId);
  expect(await deployment.diff(id, next.outs, { ...again({ image: "web:2" }), timeoutSeconds: 5 })).toEqual({
    changes: false,
    replaces: [],
  });
});

test.each(OUTLIVED)("7.3.2 deployed in spite of a fault, it is deployed once: %s", async (what) => {
  fault("serviceInstanceDeployV2", what);
  const { outs } = await deployment.create(inputs);
  expect(all().map(({ id }) => id)).toEqual([outs.deploymentId]);
});

test("a job is done only when it has ended without an error: SUCCESS alone is not enough", async () => {
  set({ restartPolicyType: "NEVER" });
  const job = { ...inputs, waitFor: "completed" as const };
  const seen: string[] = [];
  const running = deployment.create(job);
  const sleep = clock.sleep;
  clock.sleep = async (milliseconds) => {
    seen.push(all()[0]?.status ?? "none");
    // Only once it has been seen to be a SUCCESS that still runs.
    if (seen.filter((status) => status === "SUCCESS").length === 3) railway.runtime.last("web").exit(0);
    await sleep(milliseconds);
  };
  expect((await running).outs.status).toBe("SUCCESS");
  expect(seen.filter((status) => status === "SUCCESS").length).toBeGreaterThanOrEqual(3);
});

test("7.3.13 a job that fails says so with the end of its log, without the service's secrets", async () => {
  set({ restartPolicyType: "NEVER" }, { PASSWORD: "hush-hush-hush" });
  railway.runtime.behaviour = () => ({ health: 200 });
  const running = failureOf(deployment.create({ ...inputs, waitFor: "completed" }));
  const sleep = clock.sleep;
  clock.sleep = async (milliseconds) => {
    const container = railway.runtime.containers.at(-1);
    container?.say("cannot log in with hush-hush-hush");
    container?.exit(1);
    await sleep(milliseconds);
  };
  const { message } = await running;
  expect(message).toMatch(/^web: its deployment \S+ is CRASHED/);
  expect(message).toContain("cannot log in with [secret]");
  expect(message).toContain("What ran before goes on running");
  expect(message).not.toContain("hush-hush");
});

test("7.3.1 one that failed is deployed again by the next run, though nothing else has changed", async () => {
  set({ source: { image: "no-such-image:1" } });
  const failure = await failureOf(deployment.create(inputs));
  expect(failure.message).toContain("manifest unknown");
  const kept = failure.properties as unknown as DeploymentOutputs;
  expect(await deployment.diff(failure.id!, kept, inputs)).toEqual({ changes: true, replaces: [] });
  set({ source: { image: "web:1" } });
  const { outs } = await deployment.update(failure.id!, kept, inputs);
  expect(outs.status).toBe("SUCCESS");
});

test("7.3.11 one with a health check is running only when it answers, and the wait for it ends", async () => {
  set({ healthcheckPath: "/health", healthcheckTimeout: 300 });
  railway.runtime.behaviour = () => ({ health: 503 });
  const failure = await failureOf(deployment.create({ ...inputs, timeoutSeconds: 60 }));
  expect(failure.message).toMatch(/Waited 60 s for web to be running on Railway, in vain: DEPLOYING/);
});

test("7.3.12 a deployment that Railway has replaced by itself is no difference", async () => {
  const { id, outs } = await deployment.create(inputs);
  await railway.call(
    "mutation ($s: String!, $e: String!) { serviceInstanceRedeploy(serviceId: $s, environmentId: $e) }",
    {
      s: inputs.serviceId,
      e: inputs.environmentId,
    },
  );
  for (;;) {
    const { props } = await deployment.read(id, outs);
    if (props?.status === "SUCCESS" && props.deploymentId !== outs.deploymentId) {
      expect(await deployment.diff(id, props, inputs)).toEqual({ changes: false, replaces: [] });
      break;
    }
    await clock.sleep(10_000);
  }
});

test("one that has crashed since is deployed again after a refresh", async () => {
  set({ restartPolicyType: "NEVER" });
  const { id, outs } = await deployment.create(inputs);
  railway.runtime.last("web").exit(1);
  for (let status = "SUCCESS"; status !== "CRASHED"; await clock.sleep(10_000)) status = all()[0]!.status;
  const { props } = await deployment.read(id, outs);
  expect(await deployment.diff(id, props!, inputs)).toEqual({ changes: true, replaces: [] });
});

describe("a backup before it is deployed anew", () => {
  async function withVolume(): Promise<DeploymentInputs> {
    const { outs } = await volume.create({ ...inputs, mountPath: "/data" });
    return { ...inputs, backupBefore: { volumeInstanceId: outs.volumeInstanceId, name: "before 2" } };
  }

  test("is made and awaited, but not before the first time", async () => {
    const backed = await withVolume();
    const { id, outs } = await deployment.create(backed);
    expect(times(railway, "volumeInstanceBackupCreate")).toBe(0);
    await deployment.update(id, outs, { ...backed, triggers: { image: "web:2" } });
    const order = railway.calls.map(({ operation }) => operation);
    expect(order.lastIndexOf("serviceInstanceDeployV2")).toBeGreaterThan(order.lastIndexOf("workflowStatus"));
    expect(times(railway, "volumeInstanceBackupCreate")).toBe(1);
  });

  test("that fails deploys nothing", async () => {
    const backed = await withVolume();
    const { id, outs } = await deployment.create(backed);
    fault("workflowStatus", 'body {"data":{"workflowStatus":{"status":"Error","error":"disk is full"}}}');
    await expect(deployment.update(id, outs, { ...backed, triggers: { image: "web:2" } })).rejects.toThrow(
      'The backup "before 2" has failed: disk is full. Nothing was deployed.',
    );
    expect(times(railway, "serviceInstanceDeployV2")).toBe(1);
  });
});

test.each(NO_DELETION)("7.3.10 a refresh that fails is no deletion: %s", async (what) => {
  const { id, outs } = await deployment.create(inputs);
  fault("*", what);
  await expect(deployment.read(id, outs)).rejects.toThrow();
});

test("with its service it is gone", async () => {
  const { id, outs } = await deployment.create(inputs);
  await railway.call("mutation ($id: String!) { serviceDelete(id: $id) }", { id: inputs.serviceId });
  expect(await deployment.read(id, outs)).toEqual({});
});

test("it looks once a second at most", async () => {
  set({ healthcheckPath: "/health" });
  railway.runtime.behaviour = () => ({ health: 503 });
  const pauses: number[] = [];
  const sleep = clock.sleep;
  clock.sleep = async (milliseconds) => {
    pauses.push(milliseconds);
    await sleep(milliseconds);
  };
  await failureOf(deployment.create({ ...inputs, timeoutSeconds: 30 }));
  expect(pauses.length).toBeGreaterThan(5);
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(1_000);
});
