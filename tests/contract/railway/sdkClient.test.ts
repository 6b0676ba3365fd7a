import { z } from "zod";
import { clock } from "../../../clients/retry.ts";
import { readAccess } from "../../../sdks/railway/client/access.ts";
import { Railway, type Operation } from "../../../sdks/railway/client/client.ts";
import type { RailwayError } from "../../../sdks/railway/client/errors.ts";
import { makeOnce } from "../../../sdks/railway/client/makeOnce.ts";
import { allNodes, connection } from "../../../sdks/railway/client/pages.ts";
import { commitPatch } from "../../../sdks/railway/client/patch.ts";
import { readSettings, type RailwayToken } from "../../../sdks/railway/client/settings.ts";
import { ScriptedApi, type Reply } from "./scriptedApi.ts";

const VALUE = "token-of-the-test";
const account: RailwayToken = { kind: "account", value: VALUE, from: "railway:token" };
const project: RailwayToken = { ...account, kind: "project", from: "RAILWAY_TOKEN" };
const thing: Operation<{ thing: string }> = {
  document: "query thing($id: String) { thing(id: $id) }",
  data: z.object({ thing: z.string() }),
};
const make: Operation<{ made: string }> = {
  document: "mutation thingCreate($variables: EnvironmentVariables) { made }",
  data: z.object({ made: z.string() }),
};
const of = { of: 'thing "x"' };
const OK: Reply = { data: { thing: "found", made: "made" } };
const GATEWAY_TIMEOUT: Reply = { status: 504, body: "<html>gateway timeout</html>" };
const MASKED: Reply = { errors: [{ message: "Problem processing request" }] };

let api: ScriptedApi;
let slept: number[];
const realSleep = clock.sleep;

beforeEach(async () => {
  api = await ScriptedApi.start();
  slept = [];
  clock.sleep = async (milliseconds) => void slept.push(milliseconds);
  jest.spyOn(console, "log").mockImplementation(() => undefined);
});
afterEach(async () => {
  clock.sleep = realSleep;
  jest.restoreAllMocks();
  await api.close();
});

const client = (token: RailwayToken | undefined = account) => new Railway({ endpoint: api.url, token });
const failure = (call: Promise<unknown>): Promise<RailwayError> =>
  call.then(
    () => Promise.reject(new Error("it did not fail")),
    (error: RailwayError) => error,
  );

test("an account or workspace token is a bearer token, a project token has a header of its own, and never both", async () => {
  api.script.push(OK, OK);
  await client(account).query(thing, {}, of);
  await client(project).query(thing, {}, of);
  const [first, second] = api.received.map(({ headers }) => headers);
  expect([first?.authorization, first?.["project-access-token"]]).toEqual([`Bearer ${VALUE}`, undefined]);
  expect([second?.authorization, second?.["project-access-token"]]).toEqual([undefined, VALUE]);
});

test("requests say where they come from", async () => {
  api.script.push(OK);
  await client().query(thing, { id: undefined }, of);
  expect(api.received[0]?.url).toBe("/graphql/v2?source=lakekeeper-stack");
  expect(api.received[0]?.headers["user-agent"]).toBe("lakekeeper-stack");
  expect(api.received[0]?.variables).toEqual({});
});

test("without a token nothing is sent, and the message says which to make and where to put it", async () => {
  const error = await failure(new Railway({ endpoint: api.url, token: undefined }).query(thing, {}, of));
  expect(error.message).toMatch(/account or workspace token .*railway:token.*RAILWAY_API_TOKEN/);
  expect(api.received).toEqual([]);
});

test("settings: the stack's configuration goes before the environment, an empty value is none", () => {
  const from = (config: Record<string, string>, environment: Record<string, string> = {}) =>
    readSettings({ config: { get: (key) => config[key] } }, environment);
  expect(from({}).token).toBeUndefined();
  expect(from({}).endpoint).toBe("https://backboard.railway.com/graphql/v2");
  expect(from({ "railway:projectToken": "a" }, { RAILWAY_API_TOKEN: "b" }).token).toEqual({
    ...project,
    value: "a",
    from: "railway:projectToken",
  });
  expect(from({ "railway:token": "" }, { RAILWAY_TOKEN: "b" }).token).toEqual({ ...project, value: "b" });
  expect(from({}, { RAILWAY_API_TOKEN: "a", RAILWAY_TOKEN: "b" }).token).toEqual({
    kind: "account",
    value: "a",
    from: "RAILWAY_API_TOKEN",
  });
  expect(from({}, { RAILWAY_ENDPOINT: api.url }).endpoint).toBe(api.url);
});

test("a query is sent again after whatever may pass", async () => {
  api.script.push(GATEWAY_TIMEOUT, MASKED, "reset", { data: null }, OK);
  expect(await client().query(thing, {}, of)).toEqual({ thing: "found" });
  expect(slept).toHaveLength(4);
});

test("data: null is no success", async () => {
  api.script.push({ data: null });
  expect((await failure(client().mutateOnce(make, {}, of))).message).toContain("without data");
});

test("429: Retry-After is obeyed, by mutations too", async () => {
  api.script.push({ status: 429, headers: { "retry-after": "7" } }, OK);
  await client().mutateOnce(make, {}, of);
  expect(slept).toEqual([7_000]);
});

test("7.3.7 too quickly: waited for as long as it says, and half a minute where it does not", async () => {
  const refusal = (message: string): Reply => ({
    errors: [{ message, extensions: { code: "INTERNAL_SERVER_ERROR" } }],
  });
  api.script.push(
    refusal("You are creating volumes too quickly"),
    refusal("Creating volumes too quickly, one is allowed every 20 seconds"),
    OK,
  );
  await client().mutateOnce(make, {}, of);
  expect(slept).toEqual([31_000, 20_000]);
});

test.each([
  ["ambiguous", GATEWAY_TIMEOUT],
  ["ambiguous", "reset"],
  ["masked", MASKED],
] as const)("7.3.2 a mutation with an open outcome (%s) is not sent again blindly", async (kind, reply) => {
  api.script.push(reply, OK);
  expect((await failure(client().mutateOnce(make, {}, of))).kind).toBe(kind);
  expect(api.received).toHaveLength(1);
});

test("a mutation that may be repeated is", async () => {
  api.script.push(GATEWAY_TIMEOUT, MASKED, OK);
  expect(await client().mutateRepeatably(make, {}, of)).toEqual({ made: "made" });
});

test("7.3.2 what was done in spite of a 504 is found, not made again", async () => {
  api.script.push(GATEWAY_TIMEOUT, OK);
  let looks = 0;
  const found = await makeOnce(
    () =>
      client()
        .mutateOnce(make, {}, of)
        .then(({ made }) => made),
    async () => (++looks === 3 ? "found" : undefined),
  );
  expect([found, api.received.length, looks]).toEqual(["found", 1, 3]);
});

test("7.3.2 what a 504 did not do is made again once it has not turned up", async () => {
  api.script.push(GATEWAY_TIMEOUT, OK);
  let looks = 0;
  const made = await makeOnce(
    () =>
      client()
        .mutateOnce(make, {}, of)
        .then(({ made }) => made),
    async () => void looks++,
  );
  expect([made, api.received.length, looks]).toEqual(["made", 2, 5]);
});

test.each([
  ["notFound", { errors: [{ message: "Service not found" }] }],
  ["notAuthorized", { errors: [{ message: "Not Authorized" }] }],
  ["notAuthorized", { errors: [{ message: "Project Token not found" }] }],
  ["notAuthorized", { errors: [{ message: "Two Factor Authentication Required" }] }],
  ["notAuthorized", { errors: [{ message: "nope", extensions: { code: "UNAUTHENTICATED" } }] }],
  ["conflict", { errors: [{ message: "A service with that name already exists" }] }],
  ["conflict", { errors: [{ message: "Service name must be unique within a project" }] }],
  ["refused", { errors: [{ message: "Image must not be empty" }] }],
  ["validation", { status: 400, body: '{"errors":[{"message":"Unknown argument \\"x\\" on field \\"y\\"."}]}' }],
  ["refused", { status: 404, body: "no such page" }],
] as [string, Reply][])("7.3.10 %s: %j is told apart and asked once", async (kind, reply) => {
  api.script.push(reply);
  const error = await failure(client().query(thing, {}, of));
  expect(error.kind).toBe(kind);
  expect(error.message).toMatch(/^Railway, thing of thing "x": /);
  expect(api.received).toHaveLength(1);
});

test("an answer of another shape names the field", async () => {
  api.script.push({ data: { thing: 1 } });
  expect((await failure(client().query(thing, {}, of))).message).toContain("not as expected (thing)");
});

test("7.3.13 messages show neither the token nor a variable's value", async () => {
  api.script.push({ errors: [{ message: `bad value hush-hush-hush for ${VALUE}` }] });
  const variables = { input: { variables: { PGPASSWORD: "hush-hush-hush" } } };
  const { message } = await failure(client().mutateOnce(make, variables, of));
  expect(message).toContain("bad value [secret] for [secret]");
});

test("7.3.14 at most five requests are in flight", async () => {
  api.slowness = 20;
  api.script.push(...Array.from({ length: 12 }, () => OK));
  const shared = client();
  await Promise.all(Array.from({ length: 12 }, () => shared.query(thing, {}, of)));
  expect(api.mostInFlight).toBe(5);
});

test("nobody listens: tried again, then told", async () => {
  const { url } = api;
  await api.close();
  const error = await failure(new Railway({ endpoint: url, token: account }).mutateOnce(make, {}, of));
  expect([error.kind, slept.length]).toEqual(["unreachable", 6]);
});

test("all pages are read; a cursor that does not advance is the end", async () => {
  const page = (node: string, endCursor: string) => ({ edges: [{ node }], pageInfo: { hasNextPage: true, endCursor } });
  const script = [page("a", "1"), page("b", "2"), page("c", "2"), page("d", "3")];
  const asked: (string | undefined)[] = [];
  const nodes = await allNodes(async (after) => {
    asked.push(after);
    return connection(z.string()).parse(script.shift());
  });
  expect(nodes).toEqual(["a", "b", "c"]);
  expect(asked).toEqual([undefined, "1", "2"]);
});

const REFUSED: Reply = { errors: [{ message: "Not Authorized" }] };

test("a project token in the place of an account's is told apart", async () => {
  api.script.push(REFUSED, { data: { projectToken: { projectId: "p", environmentId: "e" } } });
  const error = await failure(readAccess(client(account)));
  expect(error.message).toMatch(/token in railway:token is a project token.*RAILWAY_TOKEN/);
  expect(error.message).not.toContain(VALUE);
  expect(api.received[1]?.headers["project-access-token"]).toBe(VALUE);
});

test("an account token in the place of a project's is told apart", async () => {
  api.script.push({ errors: [{ message: "Project Token not found" }] }, { data: { apiToken: { workspaces: [] } } });
  expect((await failure(readAccess(client(project)))).message).toMatch(
    /RAILWAY_TOKEN is an account or workspace token/,
  );
});

test("a token that is neither is invalid", async () => {
  api.script.push(REFUSED, REFUSED);
  expect((await failure(readAccess(client()))).message).toMatch(
    /does not accept the account or workspace token in railway:token/,
  );
});

test("7.3.8 a patch is refused while a person has staged changes", async () => {
  api.script.push({ data: { environment: { unmergedChangesCount: 2 } } });
  const options = { of: 'volume "data"', message: "grow" };
  await expect(commitPatch(client(), "env-1", {}, options)).rejects.toThrow(/has 2 staged changes .*Deploy or discard/);
  expect(api.received).toHaveLength(1);
});

test("7.3.14 patches of an environment are committed one after the other", async () => {
  api.slowness = 10;
  const unmerged = { data: { environment: { unmergedChangesCount: 0 } } };
  const done = { data: { environmentPatchCommit: "workflow" } };
  api.script.push(unmerged, done, unmerged, done);
  const shared = client();
  const options = { of: "x", message: "m" };
  await Promise.all([commitPatch(shared, "env-2", { a: 1 }, options), commitPatch(shared, "env-2", { b: 2 }, options)]);
  expect(api.mostInFlight).toBe(1);
  expect(api.received.map(({ variables }) => variables["patch"])).toEqual([undefined, { a: 1 }, undefined, { b: 2 }]);
});
