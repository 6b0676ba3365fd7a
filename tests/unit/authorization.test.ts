import * as pulumi from "@pulumi/pulumi";
import { digest } from "../../providers/digest.ts";
import { type Declared, dependencies, runMocked, settle } from "../support/mockedProgram.ts";

// The whole program with OpenFGA, declared against Pulumi's mocks.

const ENDPOINT = "http://127.0.0.1:8081";
/** By the database, whose identity is the mock's. */
const STORE = `lakekeeper-${digest("7411")}`;

let declared: Declared[];

beforeAll(async () => {
  pulumi.runtime.setAllConfig({
    "lakekeeper:platform": "local",
    "lakekeeper:authz": JSON.stringify({ mode: "openfga", endpoint: ENDPOINT }),
    "lakekeeper:authzCredentials": JSON.stringify({ apiKey: "preshared-key" }),
  });
  ({ declared } = await runMocked(() => import("../../index.ts")));
});

function get(type: string): Declared {
  const found = declared.find((resource) => resource.type === type);
  if (found === undefined) throw new Error(`no ${type}`);
  return found;
}

const input = (type: string, name: string) => settle(get(type).inputs[name]);

test.each(["Job", "Process lakekeeper-serve"])("%s is told of OpenFGA, and only secretly", async (which) => {
  const [type, name] = which.split(" ");
  const found = declared.find((one) => one.type === type && (name === undefined || one.name === name));
  const { value, secret } = await settle(found?.inputs["environment"]);
  const told = Object.entries(value as Record<string, string>).filter(([key]) => /AUTHZ|OPENFGA/.test(key));
  expect(Object.fromEntries(told)).toEqual({
    LAKEKEEPER__AUTHZ_BACKEND: "openfga",
    LAKEKEEPER__OPENFGA__ENDPOINT: ENDPOINT,
    LAKEKEEPER__OPENFGA__STORE_NAME: STORE,
    LAKEKEEPER__OPENFGA__API_KEY: "preshared-key",
  });
  expect(secret).toBe(true);
});

test("the deployer bootstraps as operator", async () => {
  expect((await input("Bootstrap", "authorization")).value).toEqual({
    operator: "oidc~deployer",
    endpoint: ENDPOINT,
    storeName: STORE,
  });
});

test("the ml-runner may write and Karma may read, in the warehouse", async () => {
  expect((await input("Grants", "assignments")).value).toEqual([
    { type: "create", user: "oidc~ml-runner" },
    { type: "modify", user: "oidc~ml-runner" },
    { type: "select", user: "oidc~karma" },
  ]);
  expect((await input("Grants", "warehouseId")).value).toBe("warehouse-id");
  expect((await input("Grants", "connection")).secret).toBe(true);
  expect(get("Grants").parent).toBe("<Authorization> authorization");
});

test("the verification comes after that, and looks with the token that Karma is given", async () => {
  expect(dependencies(get("Verification"))).toEqual(["Tables registration", "Grants authorization-grants"]);
  expect(await input("Verification", "onlyReader")).toEqual({
    value: { kind: "token", token: "a.jwt.token" },
    secret: true,
  });
  expect(get("Verification").options.additionalSecretOutputs).toContain("onlyReader");
});
