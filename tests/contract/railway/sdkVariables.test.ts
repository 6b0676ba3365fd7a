import variables, { type VariableCollectionInputs } from "../../../sdks/railway/variableCollection.provider.ts";
import type { ScriptedApi } from "./scriptedApi.ts";
import { errors, failureOf, leave, page, scriptedWorld } from "./sdkWorld.ts";

const place = { projectId: "project-1", environmentId: "env-1", serviceId: "service-1" };
const inputs: VariableCollectionInputs = { ...place, variables: { PORT: "8181", PASSWORD: "hush-hush-hush" } };
const outs = { ...inputs, version: "v1" };
const ID = "service-1:env-1";

let api: ScriptedApi;
/** What the service has; Railway provides those beginning with RAILWAY_ itself, but for what somebody has stored. */
let live: Record<string, string>;
let sealed: string[];
let knobs: string[];

beforeEach(async () => {
  api = await scriptedWorld();
  [live, sealed, knobs] = [{}, [], []];
  api.answer = (operation) => {
    switch (operation) {
      case "variables":
        return { data: { variables: live } };
      case "variableNames": {
        const names = [...Object.keys(live).filter((name) => !name.startsWith("RAILWAY_")), ...knobs, ...sealed];
        const nodes = names.map((name) => ({ name, isSealed: sealed.includes(name), serviceId: "service-1" }));
        return {
          data: { environment: { variables: page([...nodes, { name: "X", isSealed: true, serviceId: "other" }]) } },
        };
      }
      case "variableCollectionUpsert":
      case "variableDelete":
        return { data: { variableCollectionUpsert: true, variableDelete: true } };
      default:
        return undefined;
    }
  };
});
afterEach(() => leave(api));

const sent = () =>
  api.received.filter(({ query }) => query.startsWith("mutation")).map((call) => call.variables["input"]);

test("7.3.5 variables are set in one call that deploys nothing and leaves others alone", async () => {
  const made = await variables.create(inputs);
  expect(made).toEqual({ id: ID, outs: { ...inputs, version: expect.stringMatching(/^[0-9a-f-]{36}$/) as string } });
  expect(sent()).toEqual([{ ...inputs, replace: false, skipDeploys: true }]);
  expect(api.operations).toHaveLength(1);
});

test("an exclusive collection replaces all others", async () => {
  await variables.create({ ...inputs, exclusive: true });
  expect(sent()).toEqual([{ ...inputs, replace: true, skipDeploys: true }]);
});

test("every setting of variables is a new version", async () => {
  const { outs: after } = await variables.update(ID, outs, inputs);
  expect(after.version).not.toBe("v1");
  expect(sent()).toHaveLength(1);
});

test("7.3.3 foreign variables are no drift, our own are", async () => {
  live = { ...inputs.variables, FOREIGN: "x", RAILWAY_PROJECT_ID: "p" };
  expect((await variables.read(ID, outs)).props).toEqual(outs);
  live = { PORT: "9999" };
  const { props } = await variables.read(ID, outs);
  expect(props?.variables).toEqual({ PORT: "9999" });
  expect((await variables.diff(ID, props!, inputs)).changes).toBe(true);
});

test("foreign variables are drift of an exclusive collection, but for Railway's own", async () => {
  live = { ...inputs.variables, FOREIGN: "x", RAILWAY_PROJECT_ID: "p" };
  const { props } = await variables.read(ID, { ...outs, exclusive: true });
  expect(props?.variables).toEqual({ ...inputs.variables, FOREIGN: "x" });
});

test("7.3.9 line ends are no difference", async () => {
  const wanted = { ...inputs, variables: { KEY: "a\r\nb" } };
  live = { KEY: "a\nb" };
  const { props } = await variables.read(ID, { ...wanted, version: "v1" });
  expect((await variables.diff(ID, props!, wanted)).changes).toBe(false);
});

test("7.3.13 a sealed variable is there although it is never given back", async () => {
  live = { PORT: "8181" };
  sealed = ["PASSWORD"];
  expect((await variables.read(ID, outs)).props).toEqual(outs);
});

test("7.3.5 a variable is removed without a deployment; foreign ones stay, Railway's own are not stored", async () => {
  live = { ...inputs.variables, FOREIGN: "x", RAILWAY_PROJECT_ID: "p", RAILWAY_RUN_UID: "0" };
  knobs = ["RAILWAY_RUN_UID"];
  await variables.update(ID, outs, { ...inputs, variables: { PORT: "8181" } });
  expect(sent()[1]).toEqual({
    ...place,
    variables: { PORT: "8181", FOREIGN: "x", RAILWAY_RUN_UID: "0" },
    replace: true,
    skipDeploys: true,
  });
});

test("7.3.13 beside a sealed foreign variable, which a replacement would lose, each is deleted by itself", async () => {
  live = { ...inputs.variables };
  sealed = ["FOREIGN_SECRET"];
  await variables.delete(ID, outs);
  expect(sent()).toEqual([
    { ...place, name: "PORT" },
    { ...place, name: "PASSWORD" },
  ]);
});

test("a deletion leaves foreign variables, and nothing to delete is success", async () => {
  live = { ...inputs.variables, FOREIGN: "x" };
  await variables.delete(ID, outs);
  expect(sent()).toEqual([{ ...place, variables: { FOREIGN: "x" }, replace: true, skipDeploys: true }]);
  live = { FOREIGN: "x" };
  await variables.delete(ID, outs);
  expect(sent()).toHaveLength(1);
  api.answer = () => errors("Service not found");
  await variables.delete(ID, outs);
});

test("7.3.1 what could not be removed stays known and is removed by the next update", async () => {
  live = { ...inputs.variables };
  const { answer } = api;
  api.answer = (operation, values) =>
    operation === "variableNames" ? errors("Not Authorized") : answer(operation, values);
  const wanted = { ...inputs, variables: { PORT: "1" } };
  const failure = await failureOf(variables.update(ID, outs, wanted));
  expect(failure).toMatchObject({ id: ID, properties: { variables: { PORT: "1", PASSWORD: "hush-hush-hush" } } });
  api.answer = answer;
  await variables.update(ID, failure.properties as unknown as typeof outs, wanted);
  expect(sent().at(-1)).toMatchObject({ variables: { PORT: "8181" }, replace: true });
});

test("7.3.10 only a service that is not found is gone", async () => {
  api.answer = () => errors("Not Authorized");
  await expect(variables.read(ID, outs)).rejects.toThrow("Nothing was taken as deleted");
  api.answer = () => errors("Service not found");
  expect(await variables.read(ID, outs)).toEqual({});
});

test("7.3.13 no message shows a value, neither a refusal's nor a check's", async () => {
  api.answer = () => errors("cannot store hush-hush-hush");
  expect((await failureOf(variables.create(inputs))).message).toContain("cannot store [secret]");
  const wrong = { ...inputs, variables: { "NOT A NAME": "hush", NUMBER: 1 as unknown as string } };
  const reasons = (await variables.check({}, wrong)).failures.map(({ reason }) => reason);
  expect(reasons).toHaveLength(2);
  expect(reasons.join()).not.toContain("hush");
});

test("another service replaces; values not known yet are a change", async () => {
  expect(await variables.diff(ID, outs, { ...inputs, serviceId: "s2" })).toEqual({
    changes: true,
    replaces: ["serviceId"],
  });
  const unknown = { PORT: "04da6b54-80e4-46f7-96ec-b56ff0331ba9" };
  expect(await variables.diff(ID, outs, { ...inputs, variables: unknown })).toEqual({ changes: true, replaces: [] });
  expect(await variables.diff(ID, outs, inputs)).toEqual({ changes: false, replaces: [] });
});
