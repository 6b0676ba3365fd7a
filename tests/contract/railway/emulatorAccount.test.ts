import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually, refusal, worldIn, type EmulatorWorld } from "./emulatorWorld.ts";
import { startTestRailway, WORKSPACE, type TestRailway } from "./support.ts";

// Projects, environments, variables and volumes, where Railway's ways are not what one would expect.

const delays = { visible: 0, backup: 400, second: 20, restart: 1, volumeDeletion: 500, projectDeletion: 500, probe: 2 };

let railway: TestRailway;
let world: EmulatorWorld;

beforeEach(async () => {
  railway = await startTestRailway({ delays });
  world = await worldIn(railway);
});
afterEach(() => railway.stop());

async function addEnvironment(input: object): Promise<string> {
  const { environmentCreate } = await railway.call<{ environmentCreate: { id: string } }>(
    "mutation ($input: EnvironmentCreateInput!) { environmentCreate(input: $input) { id } }",
    { input: { projectId: world.projectId, name: "other", ...input } },
  );
  return environmentCreate.id;
}

const settingsIn = (environmentId: string, serviceId: string): string | null =>
  railway.account.instance(serviceId, environmentId).settings.startCommand;

describe("a project", () => {
  const project = (fields: string): Promise<Record<string, unknown>> =>
    railway
      .call<{ project: Record<string, unknown> }>(`query ($id: String!) { project(id: $id) { ${fields} } }`, {
        id: world.projectId,
      })
      .then((data) => data.project);

  test("of no workspace is there for a day only", async () => {
    const { projectCreate } = await railway.call<{ projectCreate: { isTempProject: boolean; expiredAt: string } }>(
      'mutation { projectCreate(input: { name: "x" }) { isTempProject expiredAt } }',
    );
    expect(projectCreate.isTempProject).toBe(true);
    expect(Date.parse(projectCreate.expiredAt) - Date.now()).toBeGreaterThan(23 * 3_600_000);
  });

  test("goes with all that is in it, also when a volume's data cannot be removed", async () => {
    const complaints = jest.spyOn(process.stderr, "write").mockReturnValue(true);
    const removeData = (): Promise<void> => Promise.reject(new Error("directory not empty"));
    const stubborn = await startTestRailway({ delays, removeData });
    try {
      const other = await worldIn(stubborn);
      await other.volume(await other.service());
      await stubborn.call("mutation ($id: String!) { projectDelete(id: $id) }", { id: other.projectId });
      expect(Object.values(stubborn.liveObjects()).flat()).toEqual([]);
      expect(complaints).toHaveBeenCalledWith(expect.stringMatching(/ stays: directory not empty\n$/));
    } finally {
      complaints.mockRestore();
      await stubborn.stop();
    }
  });

  test("whose deletion is scheduled says when, is listed no more, and is gone then", async () => {
    await railway.call("mutation ($id: String!) { projectScheduleDelete(id: $id) }", { id: world.projectId });
    const { deletedAt } = await project("deletedAt");
    expect(Date.parse(String(deletedAt))).toBeGreaterThan(Date.now() - 1_000);
    const { projects } = await railway.call<{ projects: { edges: object[] } }>(
      "query ($w: String!) { projects(workspaceId: $w, first: 10) { edges { cursor } } }",
      { w: WORKSPACE },
    );
    expect(projects.edges).toEqual([]);
    await eventually(async () => (await refusal(project("id"))) === "Project not found" || undefined);
  });

  test("does not have to have a name of its own", async () => {
    const create = 'mutation { projectCreate(input: { name: "twice" }) { id } }';
    await railway.call(create);
    await railway.call(create);
    expect(railway.liveObjects().projects.filter((name) => name === "twice")).toHaveLength(2);
  });
});

describe("an environment", () => {
  test("that is no fork shares services, their settings and their end with the others that are none", async () => {
    const other = await addEnvironment({});
    const serviceId = await world.service("Web", { startCommand: "run" });
    expect(settingsIn(other, serviceId)).toBe("run");
    await railway.call("mutation ($id: String!, $e: String) { serviceDelete(id: $id, environmentId: $e) }", {
      id: serviceId,
      e: other,
    });
    expect(await refusal(world.update(serviceId, {}))).toBe("Service not found");
  });

  test("that is a fork begins as a copy, and what is done in it stays in it", async () => {
    const serviceId = await world.service("Web", { startCommand: "run" });
    await world.setVariables(serviceId, { A: "1" });
    const fork = await addEnvironment({ sourceEnvironmentId: world.environmentId, skipInitialDeploys: true });
    expect(railway.account.instance(serviceId, fork)).toMatchObject({
      variables: { A: "1" },
      settings: { startCommand: "run" },
    });
    await world.update(serviceId, { startCommand: "run faster" });
    expect([settingsIn(world.environmentId, serviceId), settingsIn(fork, serviceId)]).toEqual(["run faster", "run"]);
    expect(railway.runtime.containers).toEqual([]);
    await railway.call("mutation ($id: String!, $e: String) { serviceDelete(id: $id, environmentId: $e) }", {
      id: serviceId,
      e: fork,
    });
    expect(await refusal(world.update(serviceId, { startCommand: "still" }))).toBe("no error");
  });

  test("of another project is not found", async () => {
    const serviceId = await world.service();
    const other = await worldIn(railway);
    for (const call of [
      railway.call("query ($p: String!, $e: String!) { environment(id: $e, projectId: $p) { id } }", {
        p: other.projectId,
        e: world.environmentId,
      }),
      other.setVariables(null, {}, { environmentId: world.environmentId }),
      other.volume(null, { environmentId: world.environmentId }),
    ]) {
      expect(await refusal(call)).toBe("Environment not found");
    }
    expect(await refusal(other.setVariables(serviceId, {}))).toBe("ServiceInstance not found");
  });

  test("has another etag whenever something in it is another", async () => {
    const etag = async () => (await world.environment<{ configEtag: string }>("configEtag")).configEtag;
    const before = await etag();
    const serviceId = await world.service();
    const after = await etag();
    expect(after).not.toBe(before);
    expect(await etag()).toBe(after);
    await world.update(serviceId, { startCommand: "run" });
    expect(await etag()).not.toBe(after);
  });

  test("deploys by a patch what that changes, with what somebody had staged", async () => {
    const [one, two] = [await world.service("One", {}), await world.service("Two", {})];
    await railway.call(
      "mutation ($e: String!, $input: EnvironmentConfig!) { environmentStageChanges(environmentId: $e, input: $input) { id } }",
      { e: world.environmentId, input: { services: { [two]: { deploy: { startCommand: "staged" } } } } },
    );
    await world.commit({ services: { [one]: { deploy: { limitOverride: { containers: { cpu: 2 } } } } } });
    expect(settingsIn(world.environmentId, two)).toBe("staged");
    for (const serviceId of [one, two]) expect(await world.deploymentsOf(serviceId)).toHaveLength(1);
    expect(await world.environment("unmergedChangesCount")).toEqual({ unmergedChangesCount: 0 });
  });
});

describe("a service", () => {
  test("in several regions reads as one replica, and a region is taken away by null", async () => {
    const serviceId = await world.service("Web", {
      multiRegionConfig: { a: { numReplicas: 2 }, b: { numReplicas: 1 } },
    });
    const read = async (): Promise<unknown> => {
      const { serviceInstances } = await world.environment<{ serviceInstances: { edges: { node: object }[] } }>(
        "serviceInstances(first: 5) { edges { node { numReplicas } } }",
      );
      return serviceInstances.edges[0]?.node;
    };
    expect(await read()).toEqual({ numReplicas: 1 });
    await world.update(serviceId, { multiRegionConfig: { b: null } });
    const { config } = await world.environment<{ config: { services: Record<string, { deploy: object }> } }>("config");
    expect(config.services[serviceId]?.deploy).toMatchObject({ multiRegionConfig: { a: { numReplicas: 2 } } });
    expect(await refusal(world.update(serviceId, { multiRegionConfig: { a: { numReplicas: 0 } } }))).toContain(
      "at least 1",
    );
  });

  test("with a volume has no replicas", async () => {
    const serviceId = await world.service("Web", {});
    await world.volume(serviceId);
    expect(await refusal(world.update(serviceId, { numReplicas: 2 }))).toBe(
      "A service with a volume cannot have replicas",
    );
  });
});

describe("variables", () => {
  test("that are sealed are used and named, and never told again", async () => {
    const serviceId = await world.service("Web", {});
    await world.commit({ services: { [serviceId]: { variables: { SECRET: { value: "hush", isSealed: true } } } } });
    await world.setVariables(serviceId, { OPEN: "${{SECRET}} ${{shared.X}}" });
    expect(Object.keys(await world.variablesOf(serviceId, true))).not.toContain("SECRET");
    expect(Object.keys(await world.variablesOf(serviceId))).not.toContain("SECRET");
    const { variables } = await world.environment<{ variables: { edges: { node: object }[] } }>(
      "variables(first: 10) { edges { node { name isSealed references serviceId } } }",
    );
    expect(variables.edges.map(({ node }) => node)).toEqual([
      { name: "SECRET", isSealed: true, references: [], serviceId },
      { name: "OPEN", isSealed: false, references: ["SECRET", "shared.X"], serviceId },
    ]);
    await world.status(await world.deploy(serviceId), "SUCCESS");
    expect(railway.runtime.last("Web").spec.environment["OPEN"]).toBe("hush ");
    await world.setVariables(serviceId, { SECRET: "loud" }, { replace: true });
    expect(await world.variablesOf(serviceId)).toMatchObject({ SECRET: "loud" });
  });

  test("of all services reach those that refer to them, and a change of theirs deploys every service", async () => {
    const serviceId = await world.service("Web", {});
    await world.setVariables(null, { REGION: "eu" });
    await world.setVariables(serviceId, { WHERE: "in ${{ shared.REGION }}" });
    expect(await world.variablesOf(serviceId)).toMatchObject({ WHERE: "in eu" });
    await world.setVariables(null, { REGION: "us" }, { skipDeploys: false });
    expect(await world.deploymentsOf(serviceId)).toHaveLength(1);
  });

  test("that refer to themselves end", async () => {
    const serviceId = await world.service();
    await world.setVariables(serviceId, { A: "a${{B}}", B: "b${{A}}" });
    expect((await world.variablesOf(serviceId))["A"]).toMatch(/^(ab)+a?$/);
  });

  test("are texts, and nothing else fits", async () => {
    const serviceId = await world.service();
    await expect(world.setVariables(serviceId, { PORT: 8181 })).rejects.toThrow(
      "EnvironmentVariables is a map of texts",
    );
  });
});

describe("a volume", () => {
  const instances = async (): Promise<{ deletedAt: string | null; state: string }[]> =>
    (
      await world.environment<{ volumeInstances: { edges: { node: { deletedAt: string | null; state: string } }[] } }>(
        "volumeInstances(first: 10) { edges { node { deletedAt state } } }",
      )
    ).volumeInstances.edges.map(({ node }) => node);

  test("is in no environment for null, and in all when none is named", async () => {
    await addEnvironment({});
    const places = (volumeId: string) =>
      railway.account.store.list("volumeInstances").filter((one) => one.volumeId === volumeId).length;
    expect(places(await world.volume(null, { environmentId: null }))).toBe(0);
    expect(places(await world.volume(null, { environmentId: undefined }))).toBe(2);
    expect(places(await world.volume(null))).toBe(1);
  });

  test("that waits for its deletion says when it will be gone, and keeps its name until then", async () => {
    const volumeId = await world.volume(null);
    const rename = (id: string) =>
      railway.call('mutation ($id: String!) { volumeUpdate(volumeId: $id, input: { name: "data" }) { id } }', { id });
    await rename(volumeId);
    await railway.call("mutation ($id: String!) { volumeDelete(volumeId: $id) }", { id: volumeId });
    const [pending] = await instances();
    expect(pending?.state).toBe("DELETING");
    expect(Date.parse(pending!.deletedAt!)).toBeGreaterThan(Date.now() - 1_000);
    const next = await world.volume(null);
    expect(await refusal(rename(next))).toBe("Volume name already exists");
    await eventually(async () => (await instances()).length === 1 || undefined);
    expect(await refusal(rename(next))).toBe("no error");
  });

  test("grows, and does not shrink", async () => {
    const volumeId = await world.volume(null);
    await world.commit({ volumes: { [volumeId]: { sizeMB: 9_000 } } });
    const shrink = world.commit({ volumes: { [volumeId]: { sizeMB: 100 } } });
    expect(await refusal(shrink)).toBe("Volume size can only be increased");
    expect(railway.account.volumeInstance(volumeId, undefined).sizeMB).toBe(9_000);
  });

  test("lists a backup when that is done", async () => {
    const volumeId = await world.volume(null);
    const { id } = railway.account.volumeInstance(volumeId, undefined);
    await railway.call(
      'mutation ($id: String!) { volumeInstanceBackupCreate(volumeInstanceId: $id, name: "b") { workflowId } }',
      { id },
    );
    const backups = async (): Promise<object[]> =>
      (
        await railway.call<{ volumeInstanceBackupList: object[] }>(
          "query ($id: String!) { volumeInstanceBackupList(volumeInstanceId: $id) { name } }",
          { id },
        )
      ).volumeInstanceBackupList;
    expect(await backups()).toEqual([]);
    await eventually(async () => (await backups()).length === 1 || undefined);
  });
});

test("what waits for its deletion is gone in time although the emulator was not there", async () => {
  const directory = await mkdtemp(join(tmpdir(), "railway-"));
  const first = await startTestRailway({ directory, delays: { ...delays, volumeDeletion: 100 } });
  const there = await worldIn(first);
  const volumeId = await there.volume(null);
  await first.call("mutation ($id: String!) { volumeDelete(volumeId: $id) }", { id: volumeId });
  await first.stop();
  const second = await startTestRailway({ directory, delays });
  await eventually(async () => second.account.store.list("volumes").length === 0 || undefined);
  await second.stop();
  await rm(directory, { recursive: true });
});
