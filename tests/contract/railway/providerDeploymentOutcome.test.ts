import { clock } from "../../../clients/retry.ts";
import { eventually, worldIn, type EmulatorWorld } from "./emulatorWorld.ts";
import { startProviders, stopProviders, times } from "./providerWorld.ts";
import { failureOf } from "./sdkWorld.ts";
import type { TestRailway } from "./support.ts";
import deployment, {
  type DeploymentInputs,
  type DeploymentOutputs,
} from "../../../sdks/railway/deployment.provider.ts";

let railway: TestRailway;
let world: EmulatorWorld;
let inputs: DeploymentInputs;

beforeEach(async () => {
  railway = await startProviders();
  world = await worldIn(railway);
  const { projectId, environmentId } = world;
  const serviceId = await world.service("Web", { restartPolicyMaxRetries: 2 });
  const triggers = { image: "web:1" };
  inputs = { projectId, environmentId, serviceId, triggers, waitFor: "running", what: "Web" };
});
afterEach(() => stopProviders(railway));

const fault = (operation: string, what: string) => railway.faults.add(`POST /graphql/v2/${operation}, ${what}`);
const exitsWith = (exitCode: number) => (railway.runtime.behaviour = () => ({ exitCode }));
const job = () => ({ ...inputs, waitFor: "completed" as const });
const kept = (failure: { properties?: Record<string, unknown> }) => failure.properties as unknown as DeploymentOutputs;
const next = () => ({ ...inputs, triggers: { image: "web:2" } });

test("what only says how to wait is written without a call", async () => {
  const { id, outs } = await deployment.create({ ...inputs, backupBefore: { volumeInstanceId: "v", name: "n" } });
  const calls = railway.calls.length;
  const quicker = { ...inputs, timeoutSeconds: 60 };
  expect((await deployment.update(id, outs, quicker)).outs).toEqual({
    ...quicker,
    deploymentId: outs.deploymentId,
    status: "SUCCESS",
  });
  expect(railway.calls).toHaveLength(calls);
});

test("7.3.2 an older deployment is not taken for one whose outcome is open", async () => {
  const { id, outs } = await deployment.create(inputs);
  fault("serviceInstanceDeployV2", "before, status 504, first 1");
  expect((await deployment.update(id, outs, next())).outs.deploymentId).not.toBe(outs.deploymentId);
});

test("7.3.2 and 7.3.5 one that outlasts the waiting is waited for again, and not made again", async () => {
  await world.update(inputs.serviceId, { healthcheckPath: "/health" });
  railway.runtime.behaviour = () => ({});
  const failure = await failureOf(deployment.create({ ...inputs, timeoutSeconds: 10 }));
  expect(failure.message).toMatch(/Waited 10 s for Web to be running on Railway, in vain: DEPLOYING/);
  const open = kept(failure);
  expect(open).toMatchObject({ status: "open" });
  expect((await deployment.read(failure.id!, open)).props).toEqual(open);
  expect(await deployment.diff(failure.id!, open, inputs)).toMatchObject({ changes: true });

  railway.runtime.last("Web").health = 200;
  expect((await deployment.update(failure.id!, open, inputs)).outs).toMatchObject({
    deploymentId: open.deploymentId,
    status: "SUCCESS",
  });
  expect(times(railway, "serviceInstanceDeployV2")).toBe(1);
});

test("7.3.2 one that has failed since the waiting ended is made again", async () => {
  await world.update(inputs.serviceId, { healthcheckPath: "/health", restartPolicyType: "NEVER" });
  railway.runtime.behaviour = () => ({});
  const failure = await failureOf(deployment.create({ ...inputs, timeoutSeconds: 10 }));
  railway.runtime.last("Web").exit(1);
  await world.status(kept(failure).deploymentId, "CRASHED");
  railway.runtime.behaviour = () => ({ health: 200 });
  const { outs } = await deployment.update(failure.id!, kept(failure), inputs);
  expect(outs).toMatchObject({ status: "SUCCESS" });
  expect(outs.deploymentId).not.toBe(kept(failure).deploymentId);
});

test("7.3.11 a job is done when it has stopped, not with its SUCCESS, which comes before that", async () => {
  railway.runtime.behaviour = () => ({});
  const ends = deployment.create(job());
  const [started] = await eventually(async () => {
    const all = await world.deploymentsOf(inputs.serviceId);
    return all[0]?.status === "SUCCESS" && times(railway, "deployment") > 3 ? all : undefined;
  });
  expect(started).toMatchObject({ deploymentStopped: false });
  railway.runtime.last("Web").exit(0);
  expect((await ends).outs).toMatchObject({ deploymentId: started?.id, status: "SUCCESS" });
});

test("7.3.11 a job that is restarted after a crash may still succeed", async () => {
  const codes = [1, 1, 0];
  railway.runtime.behaviour = () => ({ exitCode: codes.shift() ?? 99 });
  expect((await deployment.create(job())).outs.status).toBe("SUCCESS");
  expect(railway.runtime.containers).toHaveLength(3);
});

test("a job that crashes too often has failed; a refresh does not forget that, and the next run tries again", async () => {
  exitsWith(1);
  const failure = await failureOf(deployment.create(job()));
  expect(failure.message).toMatch(/is CRASHED stopped.*\nIts log ends with:\n {2}Web starts/);
  const { props } = await deployment.read(failure.id!, kept(failure));
  expect(await deployment.diff(failure.id!, props!, job())).toMatchObject({ changes: true });
  exitsWith(0);
  expect((await deployment.update(failure.id!, props!, job())).outs.status).toBe("SUCCESS");
});

test("7.3.12 one that another one takes the place of meanwhile is no failure: that one is waited for", async () => {
  await world.update(inputs.serviceId, { healthcheckPath: "/health" });
  railway.runtime.behaviour = () => ({});
  const ends = deployment.create(inputs);
  await eventually(async () => (railway.runtime.containers.length === 1 ? true : undefined));
  railway.runtime.behaviour = () => ({ health: 200 });
  const second = await world.deploy(inputs.serviceId);
  expect((await ends).outs).toMatchObject({ deploymentId: second, status: "SUCCESS" });
});

test("7.3.12 a read follows to the deployment that Railway has made by itself, which is no difference", async () => {
  const { id, outs } = await deployment.create(inputs);
  const second = await world.deploy(inputs.serviceId);
  await world.status(outs.deploymentId, "REMOVED");
  const { props } = await readUntil(id, outs, ({ deploymentId }) => deploymentId === second);
  expect(props).toEqual({ ...outs, deploymentId: second });
  expect(await deployment.diff(id, props!, inputs)).toMatchObject({ changes: false });
});

/** A new instance shows up after a while, on Railway's own clock; until then a read tells what is in the state. */
async function readUntil(
  id: string,
  outs: DeploymentOutputs,
  condition: (props: DeploymentOutputs) => boolean,
): ReturnType<typeof deployment.read> {
  for (;;) {
    const read = await deployment.read(id, outs);
    if (read.props === undefined || condition(read.props)) return read;
    await clock.sleep(10_000);
  }
}

test("7.3.12 what should run and has crashed since is a difference, and is deployed again", async () => {
  const { id, outs } = await deployment.create(inputs);
  exitsWith(1);
  railway.runtime.last("Web").exit(1);
  await world.status(outs.deploymentId, "CRASHED");
  const { props } = await readUntil(id, outs, ({ status }) => status === "lost");
  expect(await deployment.diff(id, props!, inputs)).toMatchObject({ changes: true });
  railway.runtime.behaviour = () => ({ health: 200 });
  expect((await deployment.update(id, props!, inputs)).outs.status).toBe("SUCCESS");
});

test("7.3.13 no value of a variable and no password is in what is told of a failure", async () => {
  const secrets = { PGPASSWORD: "hunter2", KEY: "line one of it\nline two of it", LONG_VALUE: "s0me-long-Value" };
  const database = "postgresql://lakekeeper:p%40ssw0rd@postgres.railway.internal:5432/lakekeeper";
  await world.setVariables(inputs.serviceId, { ...secrets, DATABASE_URL: database, PORT: "8181", LOG: "info" });
  railway.runtime.behaviour = () => ({});
  const ends = failureOf(deployment.create(job()));
  await eventually(async () => (railway.runtime.containers.length === 1 ? true : undefined));
  exitsWith(1);
  const { say, exit } = railway.runtime.last("Web");
  say(`cannot reach ${database} as hunter2`);
  say("nor with p@ssw0rd, line two of it, s0me-long-Value");
  say("nor postgresql://other:0ther-secret@host/db; PORT 8181, LOG info");
  exit(1);
  const { message } = await ends;
  expect(message).toMatch(/cannot reach \[secret\] as \[secret\]/);
  expect(message).toContain("nor postgresql://other:[secret]@host/db; PORT 8181, LOG info");
  expect(message).not.toMatch(/hunter2|p%40ssw0rd|p@ssw0rd|line one|line two|s0me-long|0ther-secret/);
});

test("7.3.13 without the variables, which say what to leave out, the log is not told", async () => {
  exitsWith(1);
  fault("variables", 'body {"data":null,"errors":[{"message":"Not Authorized"}]}');
  const { message } = await failureOf(deployment.create(job()));
  expect(message).toMatch(/is CRASHED[^]*Its log is on railway.com/);
  expect(message).not.toContain("Web starts");
});

describe("a backup before it is deployed anew", () => {
  let backed: DeploymentInputs;
  beforeEach(async () => {
    await world.volume(inputs.serviceId);
    const volumeInstanceId = await eventually(async () => {
      const fields = "volumeInstances(first: 1) { edges { node { id } } }";
      const found = await world.environment<{ volumeInstances: { edges: { node: { id: string } }[] } }>(fields);
      return found.volumeInstances.edges[0]?.node.id;
    });
    backed = { ...inputs, backupBefore: { volumeInstanceId, name: "before web:2" } };
  });
  const backups = async () => {
    const list = "query ($id: String!) { volumeInstanceBackupList(volumeInstanceId: $id) { name } }";
    const data = await railway.call<{ volumeInstanceBackupList: { name: string }[] }>(list, {
      id: backed.backupBefore?.volumeInstanceId,
    });
    return data.volumeInstanceBackupList.map(({ name }) => name);
  };

  test("is made, and done, before that; not when there is nothing to lose yet", async () => {
    const { id, outs } = await deployment.create(backed);
    expect(times(railway, "volumeInstanceBackupCreate")).toBe(0);
    await deployment.update(id, outs, { ...backed, triggers: next().triggers });
    expect(await backups()).toEqual(["before web:2"]);
    const order = railway.calls.map(({ operation }) => operation);
    expect(order.lastIndexOf("serviceInstanceDeployV2")).toBeGreaterThan(order.lastIndexOf("workflowStatus"));
  });

  test("one that fails has nothing deployed, and is made again by the next run", async () => {
    const { id, outs } = await deployment.create(backed);
    const body = '{"data":{"workflowStatus":{"status":"Error","error":"disk is full"}}}';
    fault("workflowStatus", `first 1, body ${body}`);
    const update = () => deployment.update(id, outs, { ...backed, triggers: next().triggers });
    await expect(update()).rejects.toThrow('The backup "before web:2" has failed: disk is full. Nothing was deployed.');
    expect(times(railway, "serviceInstanceDeployV2")).toBe(1);
    await update();
    expect(times(railway, "serviceInstanceDeployV2")).toBe(2);
  });

  test("7.3.2 its outcome is open: it is looked for, not made again", async () => {
    const { id, outs } = await deployment.create(backed);
    fault("volumeInstanceBackupCreate", "after, status 504, first 1");
    await deployment.update(id, outs, { ...backed, triggers: next().triggers });
    expect(await backups()).toEqual(["before web:2"]);
  });

  test("after a failed deployment there is no second one, which would keep what that has left", async () => {
    const { id, outs } = await deployment.create(backed);
    const changed = { ...backed, triggers: next().triggers };
    await world.update(inputs.serviceId, { source: { image: "no-such-image" } });
    const failure = await failureOf(deployment.update(id, outs, changed));
    await world.update(inputs.serviceId, { source: { image: "web:1" } });
    await deployment.update(id, kept(failure), changed);
    expect(times(railway, "volumeInstanceBackupCreate")).toBe(1);
  });
});

test("wrong inputs are refused in the preview", async () => {
  const wrong = { ...inputs, waitFor: "ready" as "running", timeoutSeconds: 0, serviceId: "" };
  expect((await deployment.check({}, wrong)).failures.map(({ reason }) => reason)).toEqual([
    "serviceId must not be empty",
    'waitFor must be running or completed, not "ready"',
    "timeoutSeconds must be 1 or more, not 0",
  ]);
});
