import { createHash } from "node:crypto";
import * as pulumi from "@pulumi/pulumi";
import type * as Program from "../../index.ts";
import { sampleRows } from "../../tools/fixtures/sample.ts";
import { type Declared, dependencies, runMocked, settle } from "../support/mockedProgram.ts";

// The whole program, declared against Pulumi's mocks: what there is, below what, after what, and what is secret.

let declared: Declared[];
let program: typeof Program;

beforeAll(async () => {
  pulumi.runtime.setAllConfig({
    "lakekeeper:platform": "local",
    "lakekeeper:protect": "true",
    "lakekeeper:cutover": "read",
  });
  ({ declared, program } = await runMocked(() => import("../../index.ts")));
});

function get(type: string, name: string): Declared {
  const found = declared.find((resource) => resource.type === type && resource.name === name);
  if (found === undefined)
    throw new Error(`no ${type} ${name} among ${declared.map((r) => `${r.type} ${r.name}`).join(", ")}`);
  return found;
}

test("each component has its children below it, named after it", () => {
  const tree: Record<string, string[]> = {};
  for (const { type, name, parent } of declared) (tree[parent ?? "nothing"] ??= []).push(`${type} ${name}`);
  expect(tree).toEqual({
    nothing: [
      "Cutover cutover",
      "<LocalPlatform> local",
      "<Postgres> postgres",
      "<TokenIssuer> issuer",
      "<Service> lakekeeper",
      "<Lifecycle> lakekeeper",
      "<CatalogAccess> access",
      "<Warehouse> warehouse",
      "<Registration> registration",
      "<Verification> verification",
      "<MlRunner> ml-runner",
    ],
    "<LocalPlatform> local": [
      "Ports ports",
      "LakekeeperRuntime runtime",
      "RandomSecret r2-token-id",
      "RandomSecret r2-token",
      "Process r2",
      "SampleLakehouse r2-sample",
    ],
    "<Postgres> postgres": [
      "RandomSecret postgres-role-password",
      "RandomSecret postgres-superuser-password",
      "PostgresCluster postgres",
    ],
    "<TokenIssuer> issuer": ["SigningKey issuer-key", "IssuerDocuments issuer-documents", "Process issuer"],
    "<Service> lakekeeper": ["RandomSecret lakekeeper-encryption-key"],
    "<Lifecycle> lakekeeper": [
      "Release lakekeeper-release",
      "Job lakekeeper-migrate",
      "Process lakekeeper-serve",
      "Readiness lakekeeper-ready",
    ],
    "<CatalogAccess> access": [
      "Bootstrap access-bootstrap",
      "Token access-deployer",
      "Token access-ml-runner",
      "Token access-karma",
    ],
    "<Warehouse> warehouse": ["Warehouse warehouse", "Namespaces warehouse-namespaces"],
    "<Registration> registration": ["Tables registration"],
    "<Verification> verification": ["Verification verification"],
  });
});

test.each([
  ["Process lakekeeper-serve", ["Job lakekeeper-migrate", "Process issuer"]],
  ["Process issuer", ["IssuerDocuments issuer-documents"]],
  ["Token access-ml-runner", ["Process issuer"]],
  ["Warehouse warehouse", ["Cutover cutover", "Process r2", "SampleLakehouse r2-sample"]],
  ["Tables registration", ["Namespaces warehouse-namespaces"]],
  ["Verification verification", ["Tables registration"]],
])("%s comes after %j", (resource, expected) => {
  const [type = "", name = ""] = resource.split(" ");
  expect(dependencies(get(type, name))).toEqual(expected);
});

test("Lakekeeper is told by the names it knows, and only secretly", async () => {
  const { value, secret } = await settle(get("Process", "lakekeeper-serve").inputs["environment"]);
  expect(value).toEqual({
    LAKEKEEPER__PG_DATABASE_URL_READ: "postgresql://lakekeeper:random-secret@127.0.0.1:1001/lakekeeper",
    LAKEKEEPER__PG_DATABASE_URL_WRITE: "postgresql://lakekeeper:random-secret@127.0.0.1:1001/lakekeeper",
    LAKEKEEPER__PG_ENCRYPTION_KEY: "random-secret",
    LAKEKEEPER__OPENID_PROVIDER_URI: "http://127.0.0.1:1003",
    LAKEKEEPER__OPENID_AUDIENCE: "lakekeeper",
    LAKEKEEPER__OPENID_SUBJECT_CLAIM: "sub",
    LAKEKEEPER__BIND_IP: "127.0.0.1",
    LAKEKEEPER__LISTEN_PORT: "1004",
    LAKEKEEPER__METRICS__PORT: "1005",
  });
  expect(secret).toBe(true);
});

test("without OpenFGA nothing of it is said anywhere, so that stacks from before see no change", async () => {
  expect(declared.map(({ type }) => type)).not.toContain("Grants");
  expect(get("Bootstrap", "access-bootstrap").inputs).not.toHaveProperty("authorization");
  const { inputs } = get("Verification", "verification");
  expect(inputs).not.toHaveProperty("onlyReader");
  expect(Object.keys(inputs["triggers"] as object)).toEqual(["instance", "storage", "tables"]);
});

test("migrate runs again for another release and for another database", async () => {
  const { value } = await settle(get("Job", "lakekeeper-migrate").inputs["triggers"]);
  expect(value).toEqual({ version: "0.13.3", database: "7411" });
});

test("the warehouse is on the bucket with keys derived as Cloudflare derives them", async () => {
  const { inputs } = get("Warehouse", "warehouse");
  expect((await settle(inputs["storageProfile"])).value).toEqual({
    bucket: "lakehouse",
    keyPrefix: "",
    region: "auto",
    endpoint: "http://127.0.0.1:1002",
    stsTokenValiditySeconds: 3600,
  });
  expect(await settle(inputs["storageCredential"])).toEqual({
    secret: true,
    value: {
      type: "access-key",
      accessKeyId: "random-secret",
      secretAccessKey: createHash("sha256").update("random-secret").digest("hex"),
    },
  });
});

test("the tables are those of the sample's SqlCatalog", async () => {
  const tables = (await settle(get("Tables", "registration").inputs["tables"])).value as Record<string, string>;
  expect(Object.keys(tables)).toEqual(Object.keys(sampleRows()).sort());
});

test("with protect, the engine refuses to delete whatever holds state", () => {
  const isProtected = declared
    .filter(({ options }) => options.protect === true)
    .map(({ type, name }) => `${type} ${name}`);
  expect(isProtected).toEqual([
    "Cutover cutover",
    "RandomSecret postgres-role-password",
    "RandomSecret postgres-superuser-password",
    "PostgresCluster postgres",
    "SigningKey issuer-key",
    "RandomSecret lakekeeper-encryption-key",
    "Warehouse warehouse",
    "Namespaces warehouse-namespaces",
  ]);
});

test("nothing that is protected is registered before a way back has been refused", () => {
  for (const resource of declared.filter(({ options, type }) => options.protect === true && type !== "Cutover")) {
    expect(dependencies(resource)).toContain("Cutover cutover");
  }
});

describe("outputs", () => {
  test("are the five variables by their own names", async () => {
    const environment = {
      LAKEHOUSE_CATALOG_TYPE: "rest",
      LAKEHOUSE_REST_URI: "http://127.0.0.1:1004/catalog",
      LAKEHOUSE_REST_WAREHOUSE: "lakehouse",
      LAKEHOUSE_CATALOG_TOKEN: "a.jwt.token",
      LAKEHOUSE_REST_VENDING: "1",
    };
    for (const [name, value] of Object.entries(environment)) {
      expect((await settle(program[name as keyof typeof environment])).value).toBe(value);
    }
    expect(await settle(program.mlRunnerEnv)).toEqual({ value: environment, secret: true });
  });

  test("of every resource that makes a secret are named to the engine as such", () => {
    const secrets = declared.flatMap(({ type, options }) =>
      (options.additionalSecretOutputs ?? []).map((output) => `${type}.${output}`),
    );
    expect([...new Set(secrets)].sort()).toEqual(
      expect.arrayContaining([
        "Bootstrap.connection",
        "PostgresCluster.url",
        "Process.environment",
        "RandomSecret.value",
        "SampleLakehouse.secretAccessKey",
        "SigningKey.privateKey",
        "Tables.connection",
        "Token.token",
        "Verification.readerToken",
        "Warehouse.storageCredential",
      ]),
    );
  });

  test.each(["LAKEHOUSE_CATALOG_TOKEN", "mlRunnerEnv"] as const)("%s is secret", async (name) => {
    expect((await settle<unknown>(program[name])).secret).toBe(true);
  });

  test("name what runs and how far the move has gone", async () => {
    expect((await settle(program.lakekeeperRuntime)).value).toBe("stand-in 0.13.3");
    expect((await settle(program.cutover)).value).toBe("read");
    expect((await settle(program.warehouseId)).value).toBe("warehouse-id");
  });
});
