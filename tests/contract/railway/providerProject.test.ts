import environment, { type EnvironmentInputs } from "../../../sdks/railway/environment.provider.ts";
import project, { type ProjectInputs } from "../../../sdks/railway/project.provider.ts";
import { TOKEN, WORKSPACE, type TestRailway } from "./support.ts";
import { NO_DELETION, OUTLIVED, placeWithService, startProviders, stopProviders, times, use } from "./providerWorld.ts";

const inputs: ProjectInputs = { name: "stack-dev", workspaceId: WORKSPACE };
let railway: TestRailway;

beforeEach(async () => {
  railway = await startProviders();
});
afterEach(() => stopProviders(railway));

const fault = (operation: string, what: string) => railway.faults.add(`POST /graphql/v2/${operation}, ${what}`);
const environmentNames = async (projectId: string) =>
  (
    await railway.call<{ environments: { edges: { node: { name: string } }[] } }>(
      "query ($p: String!) { environments(projectId: $p, first: 10) { edges { node { name } } } }",
      { p: projectId },
    )
  ).environments.edges.map(({ node }) => node.name);

describe("a project", () => {
  test("is made, read without a difference, changed in place and deleted", async () => {
    const { id, outs } = await project.create({ ...inputs, defaultEnvironmentName: "main" });
    expect(await environmentNames(id)).toEqual(["main"]);
    const wanted = { ...inputs, defaultEnvironmentName: "main" };
    const { props } = await project.read(id, outs);
    expect(props).toEqual(outs);
    expect((await project.diff(id, props!, wanted)).changes).toBe(false);

    const other = { ...wanted, name: "stack-qa", description: "words", defaultEnvironmentName: "live", private: false };
    expect(await project.diff(id, outs, other)).toEqual({ changes: true, replaces: [] });
    const updated = await project.update(id, outs, other);
    expect((await project.read(id, updated.outs)).props).toMatchObject(other);
    expect(railway.liveObjects().projects).toEqual(["stack-qa"]);

    await project.delete(id, updated.outs);
    expect(railway.liveObjects().projects).toEqual([]);
    expect(await project.read(id, updated.outs)).toEqual({});
    await project.delete(id, updated.outs);
  });

  test("with grace it is pending, which is gone for a refresh", async () => {
    const { id, outs } = await project.create({ ...inputs, deletionMode: "grace" });
    await project.delete(id, outs);
    expect(railway.liveObjects().projects).toEqual([]);
    expect(await project.read(id, outs)).toEqual({});
  });

  test("that a person has renamed is drift, and gets its name again", async () => {
    const { id, outs } = await project.create(inputs);
    await railway.call('mutation ($id: String!) { projectUpdate(id: $id, input: { name: "theirs" }) { id } }', { id });
    const { props } = await project.read(id, outs);
    expect((await project.diff(id, props!, inputs)).changes).toBe(true);
    await project.update(id, props!, inputs);
    expect(railway.liveObjects().projects).toEqual(["stack-dev"]);
  });

  test("that is there is adopted by its id, and outlives the stack", async () => {
    const { projectId } = await placeWithService(railway);
    const { id, outs } = await project.create({ ...inputs, adoptId: projectId });
    await project.delete(id, outs);
    expect(id).toBe(projectId);
    expect(railway.liveObjects()).toMatchObject({ projects: ["stack-dev"], services: ["web"] });
  });

  test.each(OUTLIVED)("7.3.2 is made, changed and deleted once in spite of a fault: %s", async (what) => {
    fault("projectCreate", what);
    const { id, outs } = await project.create(inputs);
    expect(railway.liveObjects().projects).toEqual(["stack-dev"]);
    fault("projectUpdate", what);
    await project.update(id, outs, { ...inputs, name: "stack-qa" });
    expect(railway.liveObjects().projects).toEqual(["stack-qa"]);
    fault("projectDelete", what);
    await project.delete(id, outs);
    expect(railway.liveObjects().projects).toEqual([]);
  });

  test("7.3.3 that a killed run has made is taken; one with services in it is somebody's", async () => {
    const killed = await project.create(inputs);
    expect(await project.create(inputs)).toEqual(killed);
    expect(railway.liveObjects().projects).toEqual(["stack-dev"]);
    await railway.call('mutation ($p: String!) { serviceCreate(input: { projectId: $p, name: "web" }) { id } }', {
      p: killed.id,
    });
    await expect(project.create(inputs)).rejects.toThrow(`adoptId ${killed.id}`);
    expect(railway.liveObjects().projects).toEqual(["stack-dev"]);
  });

  test.each(NO_DELETION)("7.3.10 is not taken for deleted: %s", async (what) => {
    const { id, outs } = await project.create(inputs);
    fault("project", what);
    await expect(project.read(id, outs)).rejects.toThrow('project "stack-dev"');
  });

  test("7.3.10 is there for a token that is dead, and for one that reaches another project only", async () => {
    const { id, outs } = await project.create(inputs);
    const { projectId, environmentId } = await railway.project();
    const { projectTokenCreate: token } = await railway.call<{ projectTokenCreate: string }>(
      "mutation ($input: ProjectTokenCreateInput!) { projectTokenCreate(input: $input) }",
      { input: { projectId, environmentId, name: "ci" } },
    );
    await use(railway, "dead");
    await expect(project.read(id, outs)).rejects.toThrow("Nothing was taken as deleted");
    await expect(project.delete(id, outs)).rejects.toThrow("Nothing was taken as deleted");
    await use(railway, token, "railway:projectToken");
    await expect(project.read(id, outs)).rejects.toThrow("Nothing was taken as deleted");
    await expect(project.create(inputs)).rejects.toThrow(/reaches its own project .* only/);
    await use(railway, token);
    await expect(project.create(inputs)).rejects.toThrow("The token in railway:token is a project token");
    await use(railway, TOKEN, "railway:projectToken");
    await expect(project.create(inputs)).rejects.toThrow("is an account or workspace token");
    expect(railway.liveObjects().projects).toHaveLength(2);
  });
});

describe("an environment", () => {
  let wanted: EnvironmentInputs;
  beforeEach(async () => {
    wanted = { name: "qa", projectId: (await railway.project()).projectId };
  });

  test("is made, read without a difference, renamed in place and deleted", async () => {
    const { id, outs } = await environment.create(wanted);
    expect(await environment.read(id, outs)).toEqual({ id, props: wanted });
    expect(await environment.diff(id, outs, wanted)).toEqual({ changes: false, replaces: [] });
    await environment.update(id, outs, { ...wanted, name: "live" });
    expect(await environmentNames(wanted.projectId)).toEqual(["production", "live"]);
    expect((await environment.read(id, outs)).props?.name).toBe("live");
    await environment.delete(id, outs);
    expect(await environmentNames(wanted.projectId)).toEqual(["production"]);
    expect(await environment.read(id, outs)).toEqual({});
    await environment.delete(id, outs);
  });

  test.each(OUTLIVED)("7.3.2 is made, renamed and deleted once in spite of a fault: %s", async (what) => {
    fault("environmentCreate", what);
    const { id, outs } = await environment.create(wanted);
    expect(await environmentNames(wanted.projectId)).toEqual(["production", "qa"]);
    fault("environmentRename", what);
    await environment.update(id, outs, { ...wanted, name: "live" });
    fault("environmentDelete", what);
    expect(await environmentNames(wanted.projectId)).toEqual(["production", "live"]);
    await environment.delete(id, outs);
    expect(await environmentNames(wanted.projectId)).toEqual(["production"]);
  });

  test("7.3.3 that a killed run has made is adopted, not made twice", async () => {
    const killed = await environment.create(wanted);
    expect((await environment.create(wanted)).id).toBe(killed.id);
    expect(await environmentNames(wanted.projectId)).toEqual(["production", "qa"]);
  });

  test.each(NO_DELETION)("7.3.10 is not taken for deleted: %s", async (what) => {
    const { id, outs } = await environment.create(wanted);
    fault("environment", what);
    await expect(environment.read(id, outs)).rejects.toThrow('environment "qa"');
  });

  test("7.3.1 that is never seen keeps its id", async () => {
    fault("environment", NO_DELETION.at(-1)!);
    await expect(environment.create(wanted)).rejects.toMatchObject({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      properties: wanted,
    });
    expect(times(railway, "environmentCreate")).toBe(1);
  });
});
