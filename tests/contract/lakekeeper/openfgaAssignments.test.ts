import type { Reply } from "./client.ts";
import { defaultProject, type OpenFgaWorld, startOpenFgaWorld, type Warehouse } from "./openfgaWorld.ts";

let fga: OpenFgaWorld;
let wh: Warehouse;
beforeAll(async () => {
  fga = await startOpenFgaWorld();
  wh = await fga.makeWarehouse("wh");
});
afterAll(() => fga.close());

const permissions = "/management/v1/permissions";
const said = ({ status, type }: Reply): string => `${status} ${type ?? ""}`.trim();
const assignments = (path: string): string => `${permissions}/${path}/assignments`;

describe("assignments", () => {
  test("are told by relation", async () => {
    const { id } = await fga.makeWarehouse("assigned");
    const path = assignments(`warehouse/${id}`);
    const ask = async (query = ""): Promise<unknown> => (await fga.operator("GET", path + query)).body;
    const owner = { type: "ownership", user: "oidc~operator" };
    expect(await ask()).toEqual({ assignments: [owner] });
    await fga.assign(`warehouse/${id}`, "a b/c@d", "select", "create");
    const [select, create] = ["select", "create"].map((type) => ({ type, user: "oidc~a b/c@d" }));
    expect(await ask()).toEqual({ assignments: [owner, select, create] });
    for (const query of ["?relations=create", "?relations[]=create"])
      expect(said(await fga.operator("GET", path + query))).toBe("501 NotModelled");
    expect((await fga.operator("GET", assignments("server"))).body).toMatchObject({
      assignments: expect.arrayContaining([{ type: "operator", user: "oidc~operator" }]) as unknown,
    });
    const project = (await fga.operator("GET", `${assignments("project")}`)).body;
    expect(project).toMatchObject({
      assignments: expect.arrayContaining([{ type: "project_admin", user: "oidc~operator" }]) as unknown,
      "project-id": defaultProject,
    });
    expect((await fga.operator("GET", `${assignments(`project/${defaultProject}`)}`)).body).toEqual(project);
  });

  test("are all made or none, and are not made twice or taken back twice", async () => {
    const path = assignments(`warehouse/${wh.id}`);
    const select = { type: "select", user: "oidc~once" };
    const modify = { type: "modify", user: "oidc~once" };
    const post = async (body: Record<string, object[]>): Promise<string> =>
      said(await fga.operator("POST", path, body as never));
    const held = async (): Promise<unknown[]> => {
      const { body } = await fga.operator("GET", path);
      return (body as { assignments: { user: string }[] }).assignments.filter(({ user }) => user === "oidc~once");
    };
    expect(await post({})).toBe("204");
    expect(await post({ writes: [select] })).toBe("204");
    expect(await post({ writes: [modify, select] })).toBe("409 TupleAlreadyExistsError");
    expect(await held()).toEqual([select]);
    expect(await post({ writes: [modify, modify] })).toBe("503 AuthorizationBackendError");
    expect(await post({ deletes: [modify] })).toBe("404 TupleNotFoundError");
    expect(await post({ writes: [modify], deletes: [select] })).toBe("204");
    expect(await held()).toEqual([modify]);
    expect(await post({ deletes: [modify] })).toBe("204");
    expect(await held()).toEqual([]);
  });

  test("take effect at once, and so does taking them back", async () => {
    const call = await fga.as("fleeting");
    const load = async (): Promise<string> => said(await call("GET", `${wh.path}/namespaces/ns/tables/t`));
    await fga.assign(`warehouse/${wh.id}`, "fleeting", "select");
    expect(await load()).toBe("200");
    const deletes = [{ type: "select", user: "oidc~fleeting" }];
    await fga.operator("POST", assignments(`warehouse/${wh.id}`), { deletes });
    expect(await load()).toBe("404 NoSuchTableException");
  });

  test.each([
    ["warehouse", { writes: [{ type: "admin", user: "oidc~x" }] }, "422"],
    ["warehouse", { writes: [{ type: "select", user: "x" }] }, "422"],
    ["warehouse", { writes: [{ type: "select" }] }, "422"],
    ["warehouse", { writes: [{ type: "select", role: "00000000-0000-0000-0000-000000000001" }] }, "501 NotModelled"],
    ["table", { writes: [{ type: "create", user: "oidc~x" }] }, "422"],
  ])("of a %s: %j is refused", async (kind, body, expected) => {
    const path = kind === "table" ? `warehouse/${wh.id}/table/${wh.table}` : `warehouse/${wh.id}`;
    expect(said(await fga.operator("POST", assignments(path), body as never))).toBe(expected);
  });

  test("of what is not there are forbidden to everybody", async () => {
    const nothing = "00000000-0000-0000-0000-00000000dead";
    expect(said(await fga.operator("GET", assignments(`warehouse/${nothing}`)))).toBe("403 ActionForbidden");
    expect(said(await fga.operator("GET", assignments("warehouse/no-uuid")))).toBe("400");
  });
});

test.each([
  ["POST", `${permissions}/check`],
  ["GET", `${permissions}/server/authorizer-actions`],
  ["GET", `${permissions}/role/00000000-0000-0000-0000-000000000001/assignments`],
])("%s %s is not modelled, and says so", async (method, path) => {
  expect(said(await fga.operator(method, path))).toBe("501 NotModelled");
});

test("a role cannot be assumed", async () => {
  const assumed = { "x-assume-role": "00000000-0000-0000-0000-000000000001" };
  expect(said(await fga.operator("GET", "/management/v1/info", undefined, assumed))).toBe("501 NotModelled");
});
