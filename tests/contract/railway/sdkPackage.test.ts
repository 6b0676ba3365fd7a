import * as pulumi from "@pulumi/pulumi";
import * as railway from "@pulumiverse/railway";

interface Registered {
  readonly type: string;
  readonly inputs: Record<string, unknown>;
}
const registered: Registered[] = [];

beforeAll(async () => {
  await pulumi.runtime.setMocks({
    newResource: ({ type, name, inputs }) => {
      registered.push({ type, inputs: inputs as Record<string, unknown> });
      return { id: `${name}-id`, state: inputs as object };
    },
    call: () => ({}),
  });
});

const idOf = (resource: pulumi.CustomResource): Promise<string> =>
  new Promise((resolve) => resource.id.apply((id) => resolve(id)));

test("the package is found by its name, and its resources have readable types and constant stubs", async () => {
  const place = { projectId: "p", environmentId: "e" };
  await idOf(new railway.Project("project", { name: "stack-dev" }));
  await idOf(new railway.Environment("environment", { name: "qa", projectId: "p" }));
  await idOf(new railway.Service("serve", { ...place, name: "Lakekeeper" }));
  const variables = { PASSWORD: pulumi.secret("hush") };
  await idOf(new railway.VariableCollection("variables", { ...place, serviceId: "s", variables }));

  expect(registered.map(({ type }) => type.replace(/^.*dynamic\//, ""))).toEqual([
    "railway:Project",
    "railway:Environment",
    "railway:Service",
    "railway:VariableCollection",
  ]);
  const modules = registered.map(
    ({ inputs }) => /sdks\/railway\/\w+\.provider\.ts/.exec(String(inputs["__provider"]))?.[0],
  );
  expect(modules).toEqual(
    ["project", "environment", "service", "variableCollection"].map((name) => `sdks/railway/${name}.provider.ts`),
  );
});
