import * as pulumi from "@pulumi/pulumi";
import { type Declared, runMocked, settle } from "../support/mockedProgram.ts";

// From P2.4 on Lakekeeper commits, and it alone knows where the tables are.

let declared: Declared[];

beforeAll(async () => {
  pulumi.runtime.setAllConfig({
    "lakekeeper:platform": "local",
    "lakekeeper:cutover": "write",
    // Not looked at any more: it may be gone.
    "lakekeeper:sqlCatalog": "sqlite:////nowhere/catalog.db",
  });
  ({ declared } = await runMocked(() => import("../../index.ts")));
});

function optionsOf(type: string): pulumi.CustomResourceOptions {
  const found = declared.find((resource) => resource.type === type);
  if (found === undefined) throw new Error(`no ${type}`);
  return found.options;
}

test("the SqlCatalog is not read, and no pointer of it moves a table", async () => {
  const tables = declared.find(({ type }) => type === "Tables");
  expect((await settle(tables?.inputs["tables"])).value).toEqual({});
  expect(optionsOf("Tables").ignoreChanges).toEqual(["tables"]);
});

test.each(["Tables", "Namespaces", "Warehouse"])("%s stays in the catalog when its resource goes", (type) => {
  expect(optionsOf(type).retainOnDelete).toBe(true);
});

test.each(["PostgresCluster", "SigningKey", "Warehouse", "Namespaces", "Tables", "Cutover"])(
  "%s is protected without being asked for",
  (type) => {
    expect(optionsOf(type).protect).toBe(true);
  },
);
