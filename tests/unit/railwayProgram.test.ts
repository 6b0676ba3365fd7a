import * as pulumi from "@pulumi/pulumi";
import type * as Program from "../../index.ts";
import { type Declared, dependencies, runMocked, settle } from "../support/mockedProgram.ts";

// The same program on Railway, declared against Pulumi's mocks.

let declared: Declared[];
let program: typeof Program;

beforeAll(async () => {
  pulumi.runtime.setAllConfig({
    "lakekeeper:platform": "railway",
    "lakekeeper:protect": "true",
    "lakekeeper:auth": JSON.stringify({ publish: "service" }),
    "lakekeeper:cutover": "sql",
    "lakekeeper:sqlCatalog": "sqlite:///nowhere.db",
    "lakekeeper:r2": JSON.stringify({ accountId: "0123456789abcdef0123456789abcdef" }),
    "lakekeeper:railway": JSON.stringify({ workspaceId: "ws", replicas: 2 }),
    "lakekeeper:mlRunner": JSON.stringify({ projectId: "p", environmentId: "e", serviceId: "s" }),
    "cloudflare:apiToken": "x",
    "railway:token": "y",
  });
  ({ declared, program } = await runMocked(() => import("../../index.ts")));
});

function get(type: string, name: string): Declared {
  const found = declared.find((resource) => resource.type === type && resource.name === name);
  if (found === undefined) throw new Error(`no ${type} ${name}`);
  return found;
}

const input = async (type: string, name: string, key: string): Promise<unknown> =>
  (await settle(get(type, name).inputs[key])).value;

test("four services in one project, each with its variables and one deployment", () => {
  const names = (type: string) => declared.filter((one) => one.type === type).map(({ name }) => name);
  expect(names("Project")).toEqual(["project"]);
  expect(names("Service")).toEqual(["postgres", "issuer", "lakekeeper-migrate", "lakekeeper-serve"]);
  expect(names("Deployment").sort()).toEqual([
    "issuer-deployment",
    "lakekeeper-migrate-deployment",
    "lakekeeper-serve-deployment",
    "ml-runner-service-deployment",
    "postgres-deployment",
  ]);
  expect(names("Volume")).toEqual(["postgres-volume"]);
  expect(names("ServiceDomain")).toEqual(["lakekeeper-serve-domain"]);
});

test("serve is deployed after migrate and the issuer, and migrate after Postgres", async () => {
  expect(dependencies(get("Deployment", "lakekeeper-serve-deployment"))).toEqual([
    "Deployment lakekeeper-migrate-deployment",
    "Deployment issuer-deployment",
  ]);
  expect(await input("Deployment", "lakekeeper-migrate-deployment", "waitFor")).toBe("completed");
  expect(await input("Deployment", "lakekeeper-migrate-deployment", "backupBefore")).toEqual({
    volumeInstanceId: "volume-instance",
    name: "before lakekeeper 0.13.3",
  });
});

test("the password of Postgres is in its own variables alone; others refer to it", async () => {
  const own = await settle(get("VariableCollection", "postgres-variables").inputs["variables"]);
  expect(own).toMatchObject({ secret: true, value: { POSTGRES_PASSWORD: "random-secret" } });
  for (const name of ["lakekeeper-migrate-variables", "lakekeeper-serve-variables"]) {
    expect(await input("VariableCollection", name, "variables")).toMatchObject({
      LAKEKEEPER__PG_DATABASE_URL_WRITE: "${{Postgres.DATABASE_URL}}",
      LAKEKEEPER__OPENID_PROVIDER_URI: "http://${{Issuer.RAILWAY_PRIVATE_DOMAIN}}:8080",
    });
  }
});

test("the volume is where the image wants it, and its data a folder below", async () => {
  const mountPath = await input("Volume", "postgres-volume", "mountPath");
  expect(mountPath).toBe("/var/lib/postgresql/data");
  expect(await input("VariableCollection", "postgres-variables", "variables")).toMatchObject({
    PGDATA: "/var/lib/postgresql/data/pgdata",
  });
});

test("start commands are an absolute path and words, for the image has no shell", async () => {
  expect(await input("Service", "lakekeeper-migrate", "startCommand")).toBe("/home/nonroot/lakekeeper migrate");
  expect(await input("Service", "lakekeeper-serve", "startCommand")).toBe("/home/nonroot/lakekeeper serve");
  expect(await input("Service", "lakekeeper-serve", "sourceImage")).toBe("quay.io/lakekeeper/catalog:v0.13.3");
  expect(await input("Service", "lakekeeper-serve", "numReplicas")).toBe(2);
});

test("Lakekeeper listens where Railway looks, and tells clients its public address", async () => {
  expect(await input("VariableCollection", "lakekeeper-serve-variables", "variables")).toMatchObject({
    PORT: "8181",
    LAKEKEEPER__LISTEN_PORT: "8181",
    LAKEKEEPER__BIND_IP: "::",
    LAKEKEEPER__BASE_URI: "https://web.up.railway.app",
  });
  expect((await settle(program.LAKEHOUSE_REST_URI)).value).toBe("https://web.up.railway.app/catalog");
});

test("the tokens' issuer is a name, and the documents say where its keys are in the private network", async () => {
  const issuer = "https://issuer.lakekeeper-local.invalid";
  const variables = (await input("VariableCollection", "issuer-variables", "variables")) as Record<string, string>;
  expect(JSON.parse(variables["ISSUER_DOCUMENTS"]!)).toEqual({
    "/.well-known/openid-configuration": {
      issuer,
      jwks_uri: "http://${{RAILWAY_PRIVATE_DOMAIN}}:8080/jwks.json",
    },
    "/jwks.json": { keys: [] },
  });
  expect(await input("Token", "access-ml-runner", "issuer")).toBe(issuer);
});

test("with protect, what holds state is refused to be deleted, and outlives the stack", () => {
  const kept = declared.filter(({ options }) => options.protect === true).map(({ type, name }) => `${type} ${name}`);
  expect(kept).toEqual([
    "Cutover cutover",
    "Project project",
    "RandomSecret postgres-password",
    "Service postgres",
    "Volume postgres-volume",
    "SigningKey issuer-key",
    "RandomSecret lakekeeper-encryption-key",
    "Warehouse warehouse",
    "Namespaces warehouse-namespaces",
  ]);
  for (const [type, name] of [
    ["Project", "project"],
    ["Service", "postgres"],
    ["Volume", "postgres-volume"],
  ] as const) {
    expect(get(type, name).options.retainOnDelete).toBe(true);
  }
});

test("the ml-runner's own service is given the variables, and nothing else of it is touched", async () => {
  const { inputs } = get("VariableCollection", "ml-runner-service-variables");
  expect(inputs).toMatchObject({ projectId: "p", environmentId: "e", serviceId: "s" });
  expect(inputs["exclusive"]).toBeUndefined();
  const { value, secret } = await settle(inputs["variables"] as pulumi.Input<Record<string, string>>);
  expect(secret).toBe(true);
  expect(Object.keys(value).sort()).toEqual([
    "KARMA_CATALOG_TOKEN",
    "LAKEHOUSE_CATALOG_TOKEN",
    "LAKEHOUSE_CATALOG_TYPE",
    "LAKEHOUSE_REST_URI",
    "LAKEHOUSE_REST_VENDING",
    "LAKEHOUSE_REST_WAREHOUSE",
  ]);
});

test.each(["lakekeeper-migrate-variables", "lakekeeper-serve-variables"])("%s say nothing of OpenFGA", async (name) => {
  const variables = (await input("VariableCollection", name, "variables")) as Record<string, string>;
  expect(Object.keys(variables).filter((key) => /AUTHZ|OPENFGA/.test(key))).toEqual([]);
});
