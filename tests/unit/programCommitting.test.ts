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

test("the SqlCatalog's last pointers are asked for, and that it is gone is left to the tables to judge", async () => {
  const inputs = declared.find(({ type }) => type === "Tables")?.inputs ?? {};
  expect((await settle(inputs["final"])).value).toBe(true);
  expect((await settle(inputs["tables"])).value).toEqual({});
  expect((await settle(inputs["unreadable"])).value).toContain("/nowhere/catalog.db");
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
