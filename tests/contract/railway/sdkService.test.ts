import service, { type ServiceInputs, type ServiceOutputs } from "../../../sdks/railway/service.provider.ts";
import { normalSettings, settingsToWire } from "../../../sdks/railway/service.settings.ts";
import type { Reply, ScriptedApi } from "./scriptedApi.ts";
import { errors, failureOf, GATEWAY_TIMEOUT, leave, page, scriptedWorld } from "./sdkWorld.ts";

const place = { projectId: "project-1", environmentId: "env-1" };
const inputs: ServiceInputs = {
  ...place,
  name: "Lakekeeper",
  sourceImage: "quay.io/lakekeeper/catalog:v0.13.3",
  startCommand: "/home/nonroot/lakekeeper serve",
  healthcheckPath: "/health",
  numReplicas: 2,
};
const outs: ServiceOutputs = { ...inputs, observed: normalSettings(inputs) };
const DONE = { data: { serviceInstanceUpdate: true, serviceInstanceLimitsUpdate: true, serviceDelete: true } };

const asMade = {
  id: "instance-1",
  serviceId: "service-1",
  serviceName: "Lakekeeper",
  restartPolicyType: "ON_FAILURE",
  restartPolicyMaxRetries: 10,
  domains: { serviceDomains: [], customDomains: [] },
  activeDeployments: [],
};
const asWanted = {
  ...asMade,
  source: { image: inputs.sourceImage },
  startCommand: inputs.startCommand,
  healthcheckPath: "/health",
  numReplicas: 2,
};

let api: ScriptedApi;
let services: { id: string; name: string; icon?: string; deletedAt?: string }[];
let instances: object[];
let config: object;

const stateReply = (): Reply => ({
  data: {
    project: { services: page(services) },
    environment: {
      id: "env-1",
      name: "production",
      config,
      serviceInstances: page(instances),
      volumeInstances: page([]),
    },
  },
});

/** Answers creations by making the service, and `reply` or the service itself. */
function creating(reply?: Reply): void {
  const { answer } = api;
  api.answer = (operation, variables) => {
    if (operation !== "serviceCreate") return answer(operation, variables);
    services.push({ id: "service-1", name: inputs.name });
    instances.push(asMade);
    return reply ?? { data: { serviceCreate: { id: "service-1", name: inputs.name } } };
  };
}

beforeEach(async () => {
  api = await scriptedWorld();
  [services, instances, config] = [[], [], {}];
  api.answer = (operation) => (operation === "environment" ? stateReply() : undefined);
});
afterEach(() => leave(api));

const existing = (instance: object = asWanted) => {
  services = [{ id: "service-1", name: inputs.name }];
  instances = [instance];
};
const count = (operation: string) => api.operations.filter((name) => name === operation).length;

test("7.3.5 a service is made without a source, then set; nothing is deployed", async () => {
  creating();
  api.script.push(DONE);
  expect(await service.create(inputs)).toEqual({ id: "service-1", outs });
  expect(api.operations).toEqual(["environment", "serviceCreate", "environment", "serviceInstanceUpdate"]);
  expect(api.received[1]?.variables["input"]).toEqual({ ...place, name: "Lakekeeper" });
  expect(api.received[3]?.variables).toMatchObject({
    serviceId: "service-1",
    environmentId: "env-1",
    input: { source: { image: inputs.sourceImage }, startCommand: inputs.startCommand, numReplicas: 2 },
  });
});

test("its instance is awaited, which may come later than the service", async () => {
  api.answer = (operation) => {
    if (operation === "serviceCreate") {
      services = [{ id: "service-1", name: inputs.name }];
      return { data: { serviceCreate: services[0] } };
    }
    if (operation !== "environment") return DONE;
    if (count("environment") === 4) instances = [asMade];
    return stateReply();
  };
  expect((await service.create(inputs)).id).toBe("service-1");
  expect(api.operations.slice(1)).toEqual([
    "serviceCreate",
    "environment",
    "environment",
    "environment",
    "serviceInstanceUpdate",
  ]);
});

test("7.3.1 when settings fail after the service was made, its id is kept, and the next update continues", async () => {
  creating();
  api.script.push(errors("Image must not be empty"));
  const failure = await failureOf(service.create(inputs));
  expect(failure).toMatchObject({ id: "service-1", properties: { observed: { sourceImage: null } } });
  expect(failure.message).toMatch(
    /serviceInstanceUpdate of service "Lakekeeper": Railway said "Image must not be empty"/,
  );

  api.script.push(DONE);
  const kept = failure.properties as unknown as ServiceOutputs;
  expect((await service.diff("service-1", kept, inputs)).changes).toBe(true);
  expect(await service.update("service-1", kept, inputs)).toEqual({ outs });
  expect(count("serviceCreate")).toBe(1);
});

test.each([GATEWAY_TIMEOUT, errors("Problem processing request"), "reset" as const])(
  "7.3.2 a service made in spite of %j is found by its name, not made again",
  async (reply) => {
    creating(reply);
    api.script.push(DONE);
    expect((await service.create(inputs)).id).toBe("service-1");
    expect(count("serviceCreate")).toBe(1);
  },
);

test("7.3.3 a service of this name is adopted and brought to the inputs, with a warning", async () => {
  existing(asMade);
  api.script.push(DONE);
  expect(await service.create(inputs)).toEqual({ id: "service-1", outs });
  expect(count("serviceCreate")).toBe(0);
  expect(console.warn).toHaveBeenCalledWith(expect.stringContaining('adopting the service "Lakekeeper" (service-1)'));
});

test("7.3.3 a name taken in the same moment is adopted too; in a foreign project it is refused", async () => {
  creating(errors("A service with that name already exists"));
  api.script.push(DONE);
  expect((await service.create(inputs)).id).toBe("service-1");
  await expect(service.create({ ...inputs, adopt: false })).rejects.toThrow(
    /already has a service "Lakekeeper" \(service-1\)/,
  );
});

test("7.3.4 names are at most 32 characters and none that Railway reserves", async () => {
  const problem = async (name: string) => (await service.check({}, { ...inputs, name })).failures[0]?.reason;
  expect(await problem("x".repeat(32))).toBeUndefined();
  expect(await problem("x".repeat(33))).toContain("name must be a name of at most 32 characters");
  expect(await problem("internal")).toContain("does not reserve");
});

test("7.3.6 the number of replicas is sent with every change, and never 0", async () => {
  existing({ ...asWanted, startCommand: "another" });
  api.script.push(DONE);
  await service.update("service-1", outs, inputs);
  expect(api.received.at(-1)?.variables["input"]).toMatchObject({ numReplicas: 2 });
  const [failure] = (await service.check({}, { ...inputs, numReplicas: 0 })).failures;
  expect(failure?.reason).toBe("numReplicas must be 1 or more, not 0");
});

test("7.3.6 a region that is left is set to null, and several regions are read from the configuration", async () => {
  const regions = [{ region: "us-west2", numReplicas: 3 }];
  const wanted: ServiceInputs = { ...place, name: inputs.name, regions };
  existing({ ...asWanted, numReplicas: 1 });
  const multiRegionConfig = { "us-west2": { numReplicas: 3 }, "europe-west4-drams3a": { numReplicas: 1 } };
  config = { services: { "service-1": { deploy: { multiRegionConfig } } } };
  const { props } = await service.read("service-1", { ...wanted, observed: normalSettings(wanted) });
  expect(props?.observed?.replicas).toEqual({ "us-west2": 3, "europe-west4-drams3a": 1 });

  api.script.push(DONE);
  await service.update("service-1", props!, wanted);
  expect(api.received.at(-1)?.variables["input"]).toMatchObject({
    multiRegionConfig: { "us-west2": { numReplicas: 3 }, "europe-west4-drams3a": null },
  });
});

test("a setting that is taken away is unset by null", () => {
  expect(settingsToWire({}, outs.observed!)).toMatchObject({
    source: null,
    startCommand: null,
    preDeployCommand: null,
    healthcheckPath: null,
    cronSchedule: null,
    numReplicas: 1,
  });
});

test("7.3.9 spellings that mean the same are no difference", async () => {
  const same: [ServiceInputs, object][] = [
    [{ ...place, name: "a", sourceImage: "node" }, { source: { image: "docker.io/library/node:latest" } }],
    [{ ...place, name: "a", sourceImage: "org/app:1" }, { source: { image: "docker.io/org/app:1" } }],
    [{ ...place, name: "a", preDeployCommand: "migrate" }, { preDeployCommand: "migrate" }],
    [{ ...place, name: "a", preDeployCommand: "migrate" }, { preDeployCommand: ["migrate"] }],
    [{ ...place, name: "a", healthcheckTimeout: 300, restartPolicyMaxRetries: 10 }, { healthcheckTimeout: null }],
    [
      { ...place, name: "a", drainingSeconds: 0, sleepApplication: false },
      { region: "us-west2", numReplicas: 1 },
    ],
  ];
  services = [{ id: "service-1", name: "a" }];
  for (const [given, instance] of same) {
    instances = [{ ...asMade, ...instance }];
    await leave(api);
    const { answer } = api;
    api = await scriptedWorld();
    api.answer = answer;
    const { props } = await service.read("service-1", { ...given, observed: null });
    expect(await service.diff("service-1", props!, given)).toMatchObject({ changes: false });
  }
});

test("7.3.9 registry credentials cannot be read back: they are sent when they change, and never shown", async () => {
  existing();
  const registryCredentials = { username: "robot", password: "hush-hush-hush" };
  const wanted = { ...inputs, registryCredentials };
  expect((await service.diff("service-1", outs, wanted)).changes).toBe(true);
  api.script.push(errors("bad password hush-hush-hush of robot"));
  const failure = await failureOf(service.update("service-1", outs, wanted));
  expect(failure.message).not.toContain("hush");
  expect(failure.properties).not.toHaveProperty("registryCredentials");

  api.script.push(DONE);
  const { outs: after } = await service.update("service-1", outs, wanted);
  expect(api.received.at(-1)?.variables["input"]).toMatchObject({ registryCredentials });
  expect((await service.diff("service-1", after, wanted)).changes).toBe(false);
});

test("limits are set, read from the configuration and taken away by null", async () => {
  existing();
  const wanted = { ...inputs, limits: { memoryGB: 2, vCPUs: 1 } };
  api.script.push(DONE, DONE);
  const { outs: limited } = await service.update("service-1", outs, wanted);
  expect(api.received.at(-1)?.variables["input"]).toMatchObject({ serviceId: "service-1", memoryGB: 2, vCPUs: 1 });
  expect(count("serviceInstanceUpdate")).toBe(0);

  config = { services: { "service-1": { deploy: { limitOverride: { containers: { memoryBytes: 2e9, cpu: 1 } } } } } };
  const { props } = await service.read("service-1", limited);
  expect((await service.diff("service-1", props!, wanted)).changes).toBe(false);
  await service.update("service-1", props!, inputs);
  expect(api.received.at(-1)?.variables["input"]).toMatchObject({ memoryGB: null, vCPUs: null });
});

test("a name changes in place and warns of what follows it; another environment replaces, deleting first", async () => {
  existing();
  api.script.push({ data: { serviceUpdate: { id: "service-1", name: "Catalog" } } });
  const renamed = { ...inputs, name: "Catalog" };
  expect(await service.diff("service-1", outs, renamed)).toMatchObject({ changes: true, replaces: [] });
  await service.update("service-1", outs, renamed);
  expect(console.log).toHaveBeenCalledWith(expect.stringContaining("references ${{Lakekeeper.…}} change with it"));
  expect(await service.diff("service-1", outs, { ...inputs, environmentId: "env-2" })).toEqual({
    changes: true,
    replaces: ["environmentId"],
    deleteBeforeReplace: true,
  });
});

test("drift is read and put right", async () => {
  existing({ ...asWanted, healthcheckPath: "/", numReplicas: 5 });
  const { props } = await service.read("service-1", outs);
  expect(props?.observed).toMatchObject({ healthcheckPath: "/", replicas: { "": 5 } });
  expect((await service.diff("service-1", props!, inputs)).changes).toBe(true);
  api.script.push(DONE);
  expect(await service.update("service-1", props!, inputs)).toEqual({ outs });
});

test("7.3.10 only what is not found or has a deletion date is gone", async () => {
  services = [{ id: "service-1", name: inputs.name, deletedAt: "2026-01-01T00:00:00Z" }];
  expect(await service.read("service-1", outs)).toEqual({});
  for (const reply of [errors("Not Authorized"), errors("Problem processing request"), GATEWAY_TIMEOUT]) {
    await leave(api);
    api = await scriptedWorld();
    api.answer = () => reply;
    await expect(service.read("service-1", outs)).rejects.toThrow("Railway, environment of environment env-1");
  }
  await leave(api);
  api = await scriptedWorld();
  api.answer = () => errors("Project not found");
  expect(await service.read("service-1", outs)).toEqual({});
});

test("7.3.14 many reads are one call, until something is changed", async () => {
  existing();
  await Promise.all(Array.from({ length: 13 }, () => service.read("service-1", outs)));
  expect(api.operations).toEqual(["environment"]);
  api.script.push(DONE);
  await service.update("service-1", outs, { ...inputs, numReplicas: 3 });
  await service.read("service-1", outs);
  expect(count("environment")).toBe(2);
});

test("a deletion is awaited, and finding nothing to delete is success", async () => {
  existing();
  const { answer } = api;
  api.answer = (operation, variables) => {
    if (operation !== "serviceDelete") {
      if (count("environment") === 2) services = [];
      return answer(operation, variables);
    }
    return DONE;
  };
  await service.delete("service-1", outs);
  expect(api.operations).toEqual(["serviceDelete", "environment", "environment"]);
  api.answer = (operation, variables) =>
    operation === "serviceDelete" ? errors("Service not found") : answer(operation, variables);
  await service.delete("service-1", outs);
});
