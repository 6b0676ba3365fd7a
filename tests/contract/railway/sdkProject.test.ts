import project, { type ProjectInputs } from "../../../sdks/railway/project.provider.ts";
import type { ScriptedApi } from "./scriptedApi.ts";
import { errors, failureOf, GATEWAY_TIMEOUT, leave, page, scriptedWorld } from "./sdkWorld.ts";

const WORKSPACE = { id: "ws-1", name: "Team" };
const inputs: ProjectInputs = { name: "stack-dev", workspaceId: WORKSPACE.id };
const environment = {
  id: "env-1",
  name: "production",
  createdAt: "2026-01-01T00:00:00Z",
  isEphemeral: false,
  deletedAt: null,
};
const live = {
  id: "project-1",
  name: "stack-dev",
  description: null as string | null,
  isPublic: false,
  prDeploys: false,
  workspaceId: WORKSPACE.id,
  isTempProject: false,
  deletedAt: null as string | null,
  environments: page([environment]),
  services: page([]),
};
const outs = { ...inputs, private: true, hasPrDeploys: false, defaultEnvironmentId: environment.id };

let api: ScriptedApi;
let projects: (typeof live)[];

beforeEach(async () => {
  api = await scriptedWorld();
  projects = [];
  api.answer = (operation, variables) => {
    switch (operation) {
      case "apiToken":
        return { data: { apiToken: { workspaces: [WORKSPACE] } } };
      case "projects":
        return { data: { projects: page(projects) } };
      case "project": {
        const found = projects.find(({ id }) => id === variables["id"]);
        return found ? { data: { project: found } } : errors("Project not found");
      }
      default:
        return undefined;
    }
  };
});
afterEach(() => leave(api));

test("a project is made in its workspace, private, without environments for pull requests", async () => {
  api.script.push({ data: { projectCreate: live } });
  expect(await project.create(inputs)).toEqual({ id: "project-1", outs });
  expect(api.received.at(-1)?.variables).toEqual({
    input: { name: "stack-dev", isPublic: false, prDeploys: false, workspaceId: "ws-1" },
  });
  expect(api.operations).toEqual(["apiToken", "projects", "projectCreate"]);
});

test("7.3.1 a project that Railway made temporary is an error, and its id is kept", async () => {
  api.script.push({ data: { projectCreate: { ...live, isTempProject: true } } });
  const failure = await failureOf(project.create(inputs));
  expect(failure).toMatchObject({ id: "project-1", properties: { name: "stack-dev", defaultEnvironmentId: "env-1" } });
  expect(failure.message).toContain("vanishes after a day");
});

test("7.3.2 a project made in spite of a 504 is found by workspace and name, not made again", async () => {
  const { answer } = api;
  api.answer = (operation, variables) => {
    if (operation !== "projectCreate") return answer(operation, variables);
    projects.push(live);
    return GATEWAY_TIMEOUT;
  };
  expect(await project.create(inputs)).toEqual({ id: "project-1", outs });
  expect(api.operations.filter((operation) => operation === "projectCreate")).toHaveLength(1);
});

test("7.3.3 what a killed run has left, an empty project of this name, is taken", async () => {
  projects.push({ ...live, id: "of-the-killed-run" });
  expect((await project.create(inputs)).id).toBe("of-the-killed-run");
  expect(api.operations).not.toContain("projectCreate");
});

test("7.3.3 a project of this name with services is somebody's: it is refused, with the way to adopt it", async () => {
  projects.push({ ...live, services: page([{ id: "s" }]) });
  await expect(project.create(inputs)).rejects.toThrow(
    /already has a project "stack-dev" \(project-1\).*adoptId project-1/,
  );
  expect(api.operations).not.toContain("projectCreate");
});

test("a project is adopted by its id, brought to the inputs, and never deleted", async () => {
  projects.push({ ...live, name: "other", isPublic: true, services: page([{ id: "s" }]) });
  api.script.push({ data: { projectUpdate: live } });
  const adopting = { ...inputs, adoptId: "project-1" };
  expect(await project.create(adopting)).toEqual({ id: "project-1", outs: { ...outs, adoptId: "project-1" } });
  expect(api.received.at(-1)?.variables).toEqual({
    id: "project-1",
    input: { name: "stack-dev", isPublic: false, prDeploys: false },
  });
  await project.delete("project-1", { ...outs, adoptId: "project-1" });
  expect(api.operations.at(-1)).toBe("projectUpdate");
});

test("without a workspace the token's only one is taken; of several, none", async () => {
  api.script.push({ data: { projectCreate: live } });
  const anywhere: ProjectInputs = { name: "stack-dev" };
  await project.create(anywhere);
  expect(api.received.at(-1)?.variables["input"]).toMatchObject({ workspaceId: "ws-1" });

  api.answer = () => ({ data: { apiToken: { workspaces: [WORKSPACE, { id: "ws-2", name: "Me" }] } } });
  await expect(project.create(anywhere)).rejects.toThrow("ws-1 (Team), ws-2 (Me)");
  await expect(project.create({ ...inputs, workspaceId: "ws-3" })).rejects.toThrow(/does not reach workspace ws-3/);
});

test("a project token cannot make a project, and says so", async () => {
  await leave(api);
  api = await scriptedWorld({ key: "railway:projectToken", value: "project-token" });
  api.answer = () => ({ data: { projectToken: { projectId: "p-9", environmentId: "e-9" } } });
  await expect(project.create(inputs)).rejects.toThrow(/project token reaches its own project \(p-9\) only/);
  expect(api.received[0]?.headers["project-access-token"]).toBe("project-token");
});

test("check and diff need no token", async () => {
  expect((await project.check({}, inputs)).failures).toEqual([]);
  expect(await project.diff("project-1", outs, inputs)).toEqual({ changes: false, replaces: [] });
  expect(await project.diff("project-1", outs, { ...inputs, workspaceId: "ws-2" })).toEqual({
    changes: true,
    replaces: ["workspaceId"],
  });
  expect(api.received).toEqual([]);
});

test("drift is read and put right", async () => {
  projects.push({ ...live, name: "renamed by hand", prDeploys: true });
  const { props } = await project.read("project-1", outs);
  expect(props).toEqual({ ...outs, name: "renamed by hand", hasPrDeploys: true });
  expect((await project.diff("project-1", props!, inputs)).changes).toBe(true);
  api.script.push({ data: { projectUpdate: live } });
  expect(await project.update("project-1", props!, inputs)).toEqual({ outs });
});

test("the default environment is renamed in place", async () => {
  projects.push(live);
  const { answer } = api;
  api.answer = (operation, variables) => {
    if (operation !== "environmentRename") return answer(operation, variables);
    const renamed = { ...environment, name: "main" };
    projects = [{ ...live, environments: page([renamed]) }];
    return { data: { environmentRename: renamed } };
  };
  const { outs: after } = await project.update("project-1", outs, { ...inputs, defaultEnvironmentName: "main" });
  expect(after).toEqual({ ...outs, defaultEnvironmentName: "main" });
});

test("7.3.10 only not found or a deletion date means gone", async () => {
  expect(await project.read("project-1", outs)).toEqual({});
  projects.push({ ...live, deletedAt: "2026-01-02T00:00:00Z" });
  expect(await project.read("project-1", outs)).toEqual({});
  for (const reply of [
    errors("Not Authorized"),
    errors("Problem processing request"),
    { status: 429 },
    GATEWAY_TIMEOUT,
  ]) {
    api.answer = () => reply;
    await expect(project.read("project-1", outs)).rejects.toThrow(/Railway, project of project "stack-dev"/);
  }
});

test("deleting what is gone is success; with grace it can be had back", async () => {
  api.script.push(errors("Project not found"), { data: { projectScheduleDelete: true } });
  await project.delete("project-1", outs);
  await project.delete("project-1", { ...outs, deletionMode: "grace" });
  expect(api.operations).toEqual(["projectDelete", "projectScheduleDelete"]);
});
