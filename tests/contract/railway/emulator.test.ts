import { worldIn } from "./emulatorWorld.ts";
import { startTestRailway, TOKEN, WORKSPACE, type TestRailway } from "./support.ts";

// Who may ask what, how Railway answers what does not fit, and how it fails on demand.

let railway: TestRailway;
let place: { projectId: string; environmentId: string };

beforeAll(async () => {
  railway = await startTestRailway({ workspaceToken: "workspace-token" });
});
afterAll(() => railway.stop());
beforeEach(async () => {
  place = await railway.project();
});
afterEach(() => railway.faults.clear());

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
  const other = await worldIn(railway);
  const id = await other.service("Web");
  await other.volume(id);
  await railway.call("mutation ($input: ServiceDomainCreateInput!) { serviceDomainCreate(input: $input) { id } }", {
    input: { environmentId: other.environmentId, serviceId: id },
  });
  await railway.call("mutation ($id: String!) { projectDelete(id: $id) }", { id: other.projectId });
  expect(railway.liveObjects()).toEqual(before);
});
