import { setTimeout as delay } from "node:timers/promises";
import { startTestRailway, TOKEN, WORKSPACE, type TestRailway } from "./support.ts";

// Railway's ways, one by one, as its emulator has them.

let railway: TestRailway;
let place: { projectId: string; environmentId: string };

beforeAll(async () => {
  railway = await startTestRailway({
    workspaceToken: "workspace-token",
    // Long enough for a busy machine to see what is not there yet.
    delays: { visible: 300, backup: 300, restart: 1, volumeDeletion: 300, probe: 5 },
  });
});
afterAll(() => railway.stop());
beforeEach(async () => {
  place = await railway.project();
});
afterEach(() => railway.faults.clear());

interface Deployment {
  readonly id: string;
  readonly status: string;
  readonly deploymentStopped: boolean;
  readonly instances: { readonly status: string }[];
}

const refusal = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "no error",
    (error: Error) => error.message,
  );

async function service(name = "Web", more: object = {}): Promise<string> {
  const { serviceCreate } = await railway.call<{ serviceCreate: { id: string } }>(
    "mutation ($input: ServiceCreateInput!) { serviceCreate(input: $input) { id } }",
    { input: { ...place, name, ...more } },
  );
  return serviceCreate.id;
}

async function update(serviceId: string, input: object): Promise<boolean> {
  const { serviceInstanceUpdate } = await railway.call<{ serviceInstanceUpdate: boolean }>(
    `mutation ($serviceId: String!, $environmentId: String!, $input: ServiceInstanceUpdateInput!) {
      serviceInstanceUpdate(serviceId: $serviceId, environmentId: $environmentId, input: $input)
    }`,
    { serviceId, environmentId: place.environmentId, input },
  );
  return serviceInstanceUpdate;
}

async function deploy(serviceId: string): Promise<string> {
  const { serviceInstanceDeployV2 } = await railway.call<{ serviceInstanceDeployV2: string }>(
    "mutation ($s: String!, $e: String!) { serviceInstanceDeployV2(serviceId: $s, environmentId: $e) }",
    { s: serviceId, e: place.environmentId },
  );
  return serviceInstanceDeployV2;
}

async function deployment(id: string): Promise<Deployment> {
  const data = await railway.call<{ deployment: Deployment }>(
    "query ($id: String!) { deployment(id: $id) { id status deploymentStopped instances { status } } }",
    { id },
  );
  return data.deployment;
}

async function until(id: string, condition: (one: Deployment) => boolean): Promise<Deployment> {
  for (;;) {
    const one = await deployment(id);
    if (condition(one)) return one;
    await delay(5);
  }
}

const instance = (serviceId: string, fields: string): Promise<Record<string, unknown>> =>
  railway
    .call<{ serviceInstance: Record<string, unknown> }>(
      `query ($s: String!, $e: String!) { serviceInstance(serviceId: $s, environmentId: $e) { ${fields} } }`,
      { s: serviceId, e: place.environmentId },
    )
    .then((data) => data.serviceInstance);

async function visible(serviceId: string, fields = "id"): Promise<Record<string, unknown>> {
  for (;;) {
    const found = await instance(serviceId, fields).catch(() => undefined);
    if (found !== undefined) return found;
    await delay(5);
  }
}

async function volume(serviceId: string, more: object = {}): Promise<string> {
  const { volumeCreate } = await railway.call<{ volumeCreate: { id: string } }>(
    "mutation ($input: VolumeCreateInput!) { volumeCreate(input: $input) { id } }",
    { input: { ...place, serviceId, mountPath: "/data", ...more } },
  );
  return volumeCreate.id;
}

async function setVariables(serviceId: string, variables: object, more: object = {}): Promise<void> {
  await railway.call("mutation ($input: VariableCollectionUpsertInput!) { variableCollectionUpsert(input: $input) }", {
    input: { ...place, serviceId, variables, skipDeploys: true, ...more },
  });
}

const deploymentsOf = (serviceId: string): Promise<Deployment[]> =>
  railway
    .call<{ deployments: { edges: { node: Deployment }[] } }>(
      `query ($input: DeploymentListInput!) {
        deployments(input: $input, first: 50) { edges { node { id status deploymentStopped instances { status } } } }
      }`,
      { input: { ...place, serviceId } },
    )
    .then((data) => data.deployments.edges.map(({ node }) => node));

describe("tokens", () => {
  const bearer = (value: string) => ({ authorization: `Bearer ${value}` });
  const ask = async (headers: Record<string, string>, query: string) => (await railway.send(headers, { query })).body;

  test("an account's and a workspace's are bearers, and only the account's has a user", async () => {
    const workspaces = { apiToken: { workspaces: [{ id: WORKSPACE }] } };
    expect((await ask(bearer(TOKEN), "{ apiToken { workspaces { id } } }")).data).toEqual(workspaces);
    expect((await ask(bearer("workspace-token"), "{ apiToken { workspaces { id } } }")).data).toEqual(workspaces);
    expect((await ask(bearer(TOKEN), "{ me { id } }")).errors).toBeUndefined();
    expect((await ask(bearer("workspace-token"), "{ me { id } }")).errors?.[0]?.message).toBe("Not Authorized");
  });

  test("a project's has a header of its own and reaches its environment only", async () => {
    const { projectTokenCreate } = await railway.call<{ projectTokenCreate: string }>(
      "mutation ($input: ProjectTokenCreateInput!) { projectTokenCreate(input: $input) }",
      { input: { ...place, name: "deploy" } },
    );
    const headers = { "project-access-token": projectTokenCreate };
    expect((await ask(headers, "{ projectToken { projectId environmentId } }")).data).toEqual({ projectToken: place });
    expect((await ask(headers, `{ project(id: "${place.projectId}") { id } }`)).errors).toBeUndefined();
    const other = await railway.project();
    for (const query of [
      `{ project(id: "${other.projectId}") { id } }`,
      'mutation { projectCreate(input: { name: "x" }) { id } }',
      "{ apiToken { workspaces { id } } }",
    ]) {
      expect((await ask(headers, query)).errors?.[0]?.message).toBe("Not Authorized");
    }
  });

  test.each([
    ["none", {}],
    ["an unknown one", bearer("nobody")],
    ["an empty one", { authorization: "Bearer " }],
    ["a project's as a bearer", bearer("project-token")],
    ["an account's as a project's", { "project-access-token": TOKEN }],
    ["both headers", { ...bearer(TOKEN), "project-access-token": "project-token" }],
  ])("%s is not authorized, with status 200", async (_what, headers) => {
    const { status, body } = await railway.send(headers, { query: "{ apiToken { workspaces { id } } }" });
    expect(status).toBe(200);
    expect(body.errors?.[0]).toMatchObject({ message: "Not Authorized", extensions: { code: "UNAUTHENTICATED" } });
  });
});

describe("the schema", () => {
  test.each([
    "{ nothing }",
    "{ apiToken { workspaces { color } } }",
    'mutation { serviceCreate(input: { name: "x" }) { id } }',
    "{ apiToken",
  ])("%s does not fit and is answered with 400", async (query) => {
    const { status, body } = await railway.send({ authorization: `Bearer ${TOKEN}` }, { query });
    expect(status).toBe(400);
    expect(body.errors?.length).toBeGreaterThan(0);
  });

  test("neither does a variable of another type", async () => {
    const query = "query ($id: String!) { project(id: $id) { id } }";
    const { status } = await railway.send({ authorization: `Bearer ${TOKEN}` }, { query, variables: { id: {} } });
    expect(status).toBe(400);
  });

  test("what a resolver refuses is answered with 200 and Railway's words", async () => {
    const query = '{ project(id: "00000000-0000-0000-0000-000000000000") { id } }';
    const { status, body } = await railway.send({ authorization: `Bearer ${TOKEN}` }, { query });
    expect({ status, data: body.data, message: body.errors?.[0]?.message }).toEqual({
      status: 200,
      data: null,
      message: "Project not found",
    });
  });
});

describe("services", () => {
  test("an instance shows up after a while", async () => {
    const id = await service();
    expect(await refusal(instance(id, "id"))).toBe("ServiceInstance not found");
    expect(await visible(id, "serviceName restartPolicyType restartPolicyMaxRetries numReplicas")).toEqual({
      serviceName: "Web",
      restartPolicyType: "ON_FAILURE",
      restartPolicyMaxRetries: 10,
      numReplicas: 1,
    });
  });

  test("a name is taken once in a project, and has 32 characters at most", async () => {
    await service("Web");
    expect(await refusal(service("Web"))).toBe("A service with that name already exists");
    expect(await refusal(service("x".repeat(33)))).toContain("at most 32 characters");
  });

  test("an update deploys nothing, says false when there is nothing to change, and forgets the number of replicas", async () => {
    const id = await service();
    const input = { source: { image: "web:1" }, startCommand: "run", numReplicas: 3 };
    expect(await update(id, input)).toBe(true);
    expect(await update(id, input)).toBe(false);
    expect(await deploymentsOf(id)).toEqual([]);
    await update(id, { healthcheckPath: "/up" });
    expect(await visible(id, "startCommand healthcheckPath numReplicas")).toEqual({
      startCommand: "run",
      healthcheckPath: "/up",
      numReplicas: 1,
    });
    await update(id, { startCommand: null, numReplicas: 1 });
    expect(await visible(id, "startCommand")).toEqual({ startCommand: null });
    expect(await refusal(update(id, { numReplicas: 0 }))).toContain("at least 1");
  });

  test("created with a source, one is deployed at once", async () => {
    const id = await service("Web", { source: { image: "web:1" } });
    expect(await deploymentsOf(id)).toHaveLength(1);
  });

  test("deleting one leaves its volume, belonging to nothing", async () => {
    const id = await service();
    const volumeId = await volume(id);
    await railway.call("mutation ($id: String!) { serviceDelete(id: $id) }", { id });
    expect(await refusal(railway.call("query ($id: String!) { service(id: $id) { id } }", { id }))).toBe(
      "Service not found",
    );
    expect(railway.account.volumeInstance(volumeId, undefined).serviceId).toBeNull();
  });
});

describe("variables", () => {
  test("references lead to other services, shared ones and Railway's own", async () => {
    const [database, web] = [await service("Postgres"), await service("Web")];
    await setVariables(database, {
      PGHOST: "${{RAILWAY_PRIVATE_DOMAIN}}",
      PASSWORD: "hush",
      URL: "pg://x:${{PASSWORD}}@${{PGHOST}}",
    });
    await setVariables(web, { DATABASE: "${{Postgres.URL}}/db", NOTHING: "[${{Nobody.X}}]" });
    const read = (more: object) =>
      railway
        .call<{ variables: Record<string, string> }>(
          `query ($p: String!, $e: String!, $s: String!, $u: Boolean) {
            variables(projectId: $p, environmentId: $e, serviceId: $s, unrendered: $u)
          }`,
          { p: place.projectId, e: place.environmentId, s: web, ...more },
        )
        .then(({ variables }) => variables);
    expect(await read({})).toMatchObject({
      DATABASE: "pg://x:hush@postgres.railway.internal/db",
      NOTHING: "[]",
      RAILWAY_PRIVATE_DOMAIN: "web.railway.internal",
    });
    expect(await read({ u: true })).toMatchObject({ DATABASE: "${{Postgres.URL}}/db" });
  });

  test("an upsert deploys unless it is told not to, and replaces only when it is told to", async () => {
    const id = await service();
    await update(id, { source: { image: "web:1" } });
    await setVariables(id, { A: "1" });
    expect(await deploymentsOf(id)).toHaveLength(0);
    await setVariables(id, { B: "2" }, { skipDeploys: false });
    expect(await deploymentsOf(id)).toHaveLength(1);
    expect(railway.account.instance(id, place.environmentId).variables).toEqual({ A: "1", B: "2" });
    await setVariables(id, { C: "3" }, { replace: true });
    expect(railway.account.instance(id, place.environmentId).variables).toEqual({ C: "3" });
  });

  test("one that is not there cannot be deleted", async () => {
    const id = await service();
    const remove = railway.call("mutation ($input: VariableDeleteInput!) { variableDelete(input: $input) }", {
      input: { ...place, serviceId: id, name: "NOTHING" },
    });
    expect(await refusal(remove)).toBe("Variable not found");
  });
});

describe("deployments", () => {
  async function deployed(settings: object = {}): Promise<{ id: string; serviceId: string }> {
    const serviceId = await service();
    await update(serviceId, { source: { image: "web:1" }, ...settings });
    return { serviceId, id: await deploy(serviceId) };
  }
  afterEach(() => (railway.runtime.behaviour = () => ({ health: 200 })));

  test("without a source there is nothing to deploy", async () => {
    expect(await refusal(deploy(await service()))).toBe("Cannot deploy a service without a source");
  });

  test("one without a health check is a success as soon as it has started, and stopped once it has done its work", async () => {
    const { id } = await deployed();
    expect(await until(id, ({ status }) => status === "SUCCESS")).toMatchObject({ deploymentStopped: false });
    railway.runtime.last("Web").exit(0);
    expect(await until(id, ({ deploymentStopped }) => deploymentStopped)).toMatchObject({
      status: "SUCCESS",
      instances: [{ status: "EXITED" }],
    });
  });

  test("one with a health check is a success only when that answers 200, and has failed at its timeout", async () => {
    railway.runtime.behaviour = () => ({ health: 503 });
    const { id } = await deployed({ healthcheckPath: "/health", healthcheckTimeout: 300 });
    await until(id, ({ status }) => status === "DEPLOYING");
    railway.runtime.last("Web").health = 200;
    await until(id, ({ status }) => status === "SUCCESS");

    railway.runtime.behaviour = () => ({ health: 503 });
    const late = await deployed2();
    expect(await until(late, ({ status }) => status !== "DEPLOYING" && status !== "INITIALIZING")).toMatchObject({
      status: "FAILED",
      deploymentStopped: true,
    });
  });

  async function deployed2(): Promise<string> {
    const serviceId = await service("Late");
    await update(serviceId, { source: { image: "web:1" }, healthcheckPath: "/health", healthcheckTimeout: 1 });
    return deploy(serviceId);
  }

  test.each([
    ["NEVER", 10, 1],
    ["ON_FAILURE", 2, 3],
  ])(
    "with %s and %i retries one that fails is started %# times and has crashed",
    async (restartPolicyType, retries, starts) => {
      const before = railway.runtime.containers.length;
      railway.runtime.behaviour = () => ({ exitCode: 1 });
      const { id } = await deployed({ restartPolicyType, restartPolicyMaxRetries: retries });
      expect(await until(id, ({ status }) => status === "CRASHED")).toMatchObject({
        instances: [{ status: "CRASHED" }],
      });
      expect(railway.runtime.containers.length - before).toBe(starts);
    },
  );

  test("the one before is removed, and stays while the next one has failed", async () => {
    const { id, serviceId } = await deployed({ healthcheckPath: "/health", healthcheckTimeout: 1 });
    await until(id, ({ status }) => status === "SUCCESS");
    railway.runtime.behaviour = () => ({ health: 500 });
    const bad = await deploy(serviceId);
    await until(bad, ({ status }) => status === "FAILED");
    expect(await deployment(id)).toMatchObject({ status: "SUCCESS", deploymentStopped: false });
    railway.runtime.behaviour = () => ({ health: 200 });
    const good = await deploy(serviceId);
    await until(good, ({ status }) => status === "SUCCESS");
    await until(id, ({ status }) => status === "REMOVED");
  });

  test("an image that cannot be pulled has failed, with an event and a log that say so", async () => {
    const serviceId = await service();
    await update(serviceId, { source: { image: "no-such-image:1" } });
    const id = await deploy(serviceId);
    await until(id, ({ status }) => status === "FAILED");
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
    await until(id, ({ status }) => status === "SUCCESS");
    for (let line = 0; line < 5; line++) railway.runtime.last("Web").say(`line ${line}`);
    const data = await railway.call<{ deploymentLogs: { message: string }[] }>(
      "query ($id: String!) { deploymentLogs(deploymentId: $id, limit: 2) { message } }",
      { id },
    );
    expect(data.deploymentLogs.map(({ message }) => message)).toEqual(["line 2", "line 3", "line 4"]);
  });
});

describe("volumes", () => {
  interface Listed {
    readonly volumeId: string;
    readonly state: string;
    readonly isPendingDeletion: boolean;
  }
  const listed = (): Promise<Listed[]> =>
    railway
      .call<{ environment: { volumeInstances: { edges: { node: Listed }[] } } }>(
        `query ($id: String!) {
          environment(id: $id) { volumeInstances(first: 10) { edges { node { volumeId state isPendingDeletion } } } }
        }`,
        { id: place.environmentId },
      )
      .then((data) => data.environment.volumeInstances.edges.map(({ node }) => node));

  test("one shows up after a while, a service has one at most, and a name is taken once", async () => {
    const id = await service();
    const volumeId = await volume(id);
    expect(await listed()).toEqual([]);
    while ((await listed()).length === 0) await delay(5);
    expect(await listed()).toMatchObject([{ volumeId, state: "READY", isPendingDeletion: false }]);
    expect(await refusal(volume(id))).toBe("A service can only have one volume");
    const rename = (of: string) =>
      railway.call('mutation ($id: String!) { volumeUpdate(volumeId: $id, input: { name: "data" }) { id } }', {
        id: of,
      });
    await rename(volumeId);
    expect(await refusal(rename(await volume(await service("Other"))))).toBe("Volume name already exists");
  });

  test("an empty region is no region, and fails without saying why", async () => {
    expect(await refusal(volume(await service(), { region: "" }))).toBe("Problem processing request");
  });

  test("an update without a service takes the volume away from it", async () => {
    const serviceId = await service();
    const volumeId = await volume(serviceId);
    await railway.call(
      "mutation ($id: String!, $input: VolumeInstanceUpdateInput!) { volumeInstanceUpdate(volumeId: $id, input: $input) }",
      { id: volumeId, input: { mountPath: "/other" } },
    );
    expect(railway.account.volumeInstance(volumeId, undefined)).toMatchObject({ serviceId: null, mountPath: "/other" });
  });

  test("a deletion is pending for a while", async () => {
    const volumeId = await volume(await service());
    await railway.call("mutation ($id: String!) { volumeDelete(volumeId: $id) }", { id: volumeId });
    while ((await listed()).some(({ isPendingDeletion }) => !isPendingDeletion)) await delay(5);
    while ((await listed()).length > 0) await delay(5);
    expect(railway.liveObjects().volumes).not.toContain(volumeId);
  });

  test("a backup is a workflow, unknown at first and then complete", async () => {
    const volumeId = await volume(await service());
    const { id } = railway.account.volumeInstance(volumeId, undefined);
    const { volumeInstanceBackupCreate } = await railway.call<{ volumeInstanceBackupCreate: { workflowId: string } }>(
      'mutation ($id: String!) { volumeInstanceBackupCreate(volumeInstanceId: $id, name: "before") { workflowId } }',
      { id },
    );
    const { workflowId } = volumeInstanceBackupCreate;
    const status = async () =>
      (
        await railway.call<{ workflowStatus: { status: string } }>(
          "query ($id: String!) { workflowStatus(workflowId: $id) { status } }",
          { id: workflowId },
        )
      ).workflowStatus.status;
    expect(await status()).toBe("NotFound");
    while ((await status()) !== "Complete") await delay(5);
    expect(railway.account.volumeInstance(volumeId, undefined).backups).toMatchObject([{ name: "before" }]);
  });
});

describe("networking", () => {
  test("each service domain leads to the active deployment's port, and fails without one", async () => {
    const serviceId = await service();
    const { serviceDomainCreate } = await railway.call<{ serviceDomainCreate: { domain: string } }>(
      "mutation ($input: ServiceDomainCreateInput!) { serviceDomainCreate(input: $input) { id domain } }",
      { input: { environmentId: place.environmentId, serviceId, targetPort: 8181 } },
    );
    const answer = await fetch(`http://${serviceDomainCreate.domain}/`);
    expect(answer.status).toBe(502);
    expect(await answer.json()).toMatchObject({ message: "Application failed to respond" });
  });

  test("a TCP proxy comes by a patch, shows up after a while and is one at most", async () => {
    const serviceId = await service();
    const commit = (port: string) =>
      railway.call(
        "mutation ($e: String!, $patch: EnvironmentConfig) { environmentPatchCommit(environmentId: $e, patch: $patch) }",
        {
          e: place.environmentId,
          patch: { services: { [serviceId]: { networking: { tcpProxies: { [port]: {} } } } } },
        },
      );
    await commit("5432");
    const proxies = async () =>
      (
        await railway.call<{ tcpProxies: { applicationPort: number }[] }>(
          "query ($s: String!, $e: String!) { tcpProxies(serviceId: $s, environmentId: $e) { applicationPort } }",
          { s: serviceId, e: place.environmentId },
        )
      ).tcpProxies;
    while ((await proxies()).length === 0) await delay(5);
    expect(await proxies()).toEqual([{ applicationPort: 5432 }]);
    expect(await refusal(commit("5433"))).toBe("A service can only have one TCP proxy");
  });

  test("what a person has staged is counted, and goes along with the next patch", async () => {
    const serviceId = await service();
    await railway.call(
      "mutation ($e: String!, $input: EnvironmentConfig!) { environmentStageChanges(environmentId: $e, input: $input) { id } }",
      { e: place.environmentId, input: { services: { [serviceId]: { deploy: { startCommand: "staged" } } } } },
    );
    const { environment } = await railway.call<{ environment: { unmergedChangesCount: number } }>(
      "query ($e: String!) { environment(id: $e) { unmergedChangesCount } }",
      { e: place.environmentId },
    );
    expect(environment.unmergedChangesCount).toBe(1);
  });
});

describe("faults, by operation", () => {
  const make = 'mutation { projectCreate(input: { name: "x", workspaceId: "' + WORKSPACE + '" }) { id } }';

  test("a gateway that gives up after the effect", async () => {
    railway.faults.add("POST /graphql/v2/projectCreate, after, status 504, first 1");
    const before = railway.liveObjects().projects.length;
    const answer = await fetch(railway.url, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ query: make }),
    });
    expect(answer.status).toBe(504);
    expect(railway.liveObjects().projects).toHaveLength(before + 1);
  });

  test("a limit that says how long to wait, before any effect", async () => {
    railway.faults.add("POST /graphql/v2/projectCreate, before, status 429, first 1");
    const before = railway.liveObjects().projects.length;
    const { status, headers } = await railway.send({ authorization: `Bearer ${TOKEN}` }, { query: make });
    expect(status).toBe(429);
    expect(headers).toMatchObject({ "retry-after": "1" });
    expect(railway.liveObjects().projects).toHaveLength(before);
  });
});

test("deleting a project leaves nothing of it", async () => {
  const before = railway.liveObjects();
  const other = await railway.project();
  place = other;
  const id = await service("Web");
  await volume(id);
  await railway.call("mutation ($input: ServiceDomainCreateInput!) { serviceDomainCreate(input: $input) { id } }", {
    input: { environmentId: other.environmentId, serviceId: id },
  });
  await railway.call("mutation ($id: String!) { projectDelete(id: $id) }", { id: other.projectId });
  expect(railway.liveObjects()).toEqual(before);
});
