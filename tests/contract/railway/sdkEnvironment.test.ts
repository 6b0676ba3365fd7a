import environment from "../../../sdks/railway/environment.provider.ts";
import type { ScriptedApi } from "./scriptedApi.ts";
import { errors, failureOf, GATEWAY_TIMEOUT, leave, page, scriptedWorld } from "./sdkWorld.ts";

const inputs = { name: "staging", projectId: "project-1" };
const NONE = { data: { environments: page([]) } };
const live = { id: "env-2", name: "staging", deletedAt: null };

let api: ScriptedApi;
beforeEach(async () => {
  api = await scriptedWorld();
});
afterEach(() => leave(api));

test("7.3.5 an environment is made without deploying anything, and awaited", async () => {
  api.script.push(NONE, { data: { environmentCreate: live } }, errors("Environment not found"), {
    data: { environment: live },
  });
  expect(await environment.create({ ...inputs, sourceEnvironmentId: "env-1" })).toMatchObject({ id: "env-2" });
  expect(api.received[1]?.variables["input"]).toEqual({
    ...inputs,
    sourceEnvironmentId: "env-1",
    skipInitialDeploys: true,
  });
});

test("7.3.1 one that does not turn up keeps its id in state", async () => {
  api.script.push(NONE, { data: { environmentCreate: live } });
  api.answer = (operation) => (operation === "environment" ? errors("Not Authorized") : undefined);
  expect(await failureOf(environment.create(inputs))).toMatchObject({ id: "env-2", properties: inputs });
});

test.each([GATEWAY_TIMEOUT, errors("An environment of that name already exists")])(
  "7.3.2 one that is there already is found by its name: %j",
  async (reply) => {
    api.answer = (operation) => {
      if (operation === "environmentCreate") return reply;
      if (!api.operations.includes("environmentCreate")) return NONE;
      return operation === "environments" ? { data: { environments: page([live]) } } : { data: { environment: live } };
    };
    expect((await environment.create(inputs)).id).toBe("env-2");
    expect(api.operations.filter((operation) => operation === "environmentCreate")).toHaveLength(1);
  },
);

test("7.3.10 gone is only what is not found or has a deletion date; drift of the name is read", async () => {
  api.script.push(
    errors("Environment not found"),
    { data: { environment: { ...live, deletedAt: "2026-01-01T00:00:00Z" } } },
    { data: { environment: { ...live, name: "renamed" } } },
    errors("Not Authorized"),
  );
  expect(await environment.read("env-2", inputs)).toEqual({});
  expect(await environment.read("env-2", inputs)).toEqual({});
  expect(await environment.read("env-2", inputs)).toEqual({ id: "env-2", props: { ...inputs, name: "renamed" } });
  await expect(environment.read("env-2", inputs)).rejects.toThrow("Not Authorized");
});

test("a name changes in place, a project or a source replaces", async () => {
  api.script.push({ data: { environment: live } }, { data: { environmentRename: { ...live, name: "qa" } } });
  expect(await environment.diff("env-2", inputs, { ...inputs, name: "qa" })).toEqual({ changes: true, replaces: [] });
  expect(await environment.update("env-2", inputs, { ...inputs, name: "qa" })).toEqual({
    outs: { ...inputs, name: "qa" },
  });
  expect(api.received[1]?.variables).toEqual({ id: "env-2", name: "qa" });
  expect(await environment.diff("env-2", inputs, { ...inputs, projectId: "p" })).toEqual({
    changes: true,
    replaces: ["projectId"],
  });
});

test("deleting what is gone is success", async () => {
  api.script.push(errors("Environment not found"));
  await environment.delete("env-2", inputs);
  expect(api.operations).toEqual(["environmentDelete"]);
});
