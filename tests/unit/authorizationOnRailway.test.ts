import * as pulumi from "@pulumi/pulumi";
import { type Declared, runMocked, settle } from "../support/mockedProgram.ts";

// The same on Railway, where Lakekeeper shows OpenFGA a token of an OpenID provider.

let declared: Declared[];

beforeAll(async () => {
  pulumi.runtime.setAllConfig({
    "lakekeeper:platform": "railway",
    "lakekeeper:protect": "true",
    "lakekeeper:auth": JSON.stringify({ publish: "service" }),
    "lakekeeper:cutover": "sql",
    "lakekeeper:sqlCatalog": "sqlite:///nowhere.db",
    "lakekeeper:r2": JSON.stringify({ accountId: "0123456789abcdef0123456789abcdef" }),
    "cloudflare:apiToken": "x",
    "railway:token": "y",
    "lakekeeper:authz": JSON.stringify({
      mode: "openfga",
      endpoint: "http://openfga.railway.internal:8081",
      storeName: "lake",
      tokenEndpoint: "https://id.example.com/token",
      scope: "fga",
    }),
    "lakekeeper:authzCredentials": JSON.stringify({ clientId: "lakekeeper", clientSecret: "client-secret" }),
  });
  ({ declared } = await runMocked(() => import("../../index.ts")));
});

test.each(["lakekeeper-migrate-variables", "lakekeeper-serve-variables"])("%s hold it, secretly", async (name) => {
  const { inputs } = declared.find((one) => one.type === "VariableCollection" && one.name === name)!;
  const { value, secret } = await settle(inputs["variables"]);
  const told = Object.entries(value as Record<string, string>).filter(([key]) => /AUTHZ|OPENFGA/.test(key));
  expect(Object.fromEntries(told)).toEqual({
    LAKEKEEPER__AUTHZ_BACKEND: "openfga",
    LAKEKEEPER__OPENFGA__ENDPOINT: "http://openfga.railway.internal:8081",
    LAKEKEEPER__OPENFGA__STORE_NAME: "lake",
    LAKEKEEPER__OPENFGA__CLIENT_ID: "lakekeeper",
    LAKEKEEPER__OPENFGA__CLIENT_SECRET: "client-secret",
    LAKEKEEPER__OPENFGA__TOKEN_ENDPOINT: "https://id.example.com/token",
    LAKEKEEPER__OPENFGA__SCOPE: "fga",
  });
  expect(secret).toBe(true);
});

test("what the clients may do stays with a warehouse that is left", () => {
  expect(declared.find(({ type }) => type === "Grants")?.options.retainOnDelete).toBe(true);
});
