import * as pulumi from "@pulumi/pulumi";
import { readConfig } from "../../config.ts";
import { startOpenIdProvider } from "../../emulators/issuer/openIdProvider.ts";
import { type Declared, runMocked, settle } from "../support/mockedProgram.ts";

// Who Lakekeeper is told to believe, and what clients are given, for each mode.

const client = (id: string) => ({ clientId: id, clientSecret: `secret of ${id}` });
const CLIENTS = { deployer: client("d"), "ml-runner": client("m"), karma: client("k") };
const OIDC = {
  mode: "oidc",
  issuerUrl: "https://id.example.com/lake",
  audience: "api",
  scope: "lake",
  subjectClaim: "oid, sub",
};

async function declare(auth: object) {
  const config = readConfig({
    "lakekeeper:platform": "local",
    "lakekeeper:auth": JSON.stringify(auth),
    "lakekeeper:authClients": JSON.stringify(CLIENTS),
  });
  const { declared, program } = await runMocked(async () => {
    const { authentication, trust } = await import("../../components/authentication.ts");
    const { LakekeeperService } = await import("../../components/service.ts");
    const { LocalPlatform } = await import("../../platforms/local/index.ts");
    const protection = { protect: true, dependsOn: [] };
    const args = { platform: new LocalPlatform(config), auth: config.auth, clients: config.authClients, protection };
    const chosen = authentication(args);
    const trusted = trust(chosen, args);
    const postgres = { url: pulumi.output("postgresql://p"), identity: pulumi.output("1") };
    const { authz, authzCredentials } = config;
    const service = new LakekeeperService("lakekeeper", {
      postgres: postgres as never,
      trust: trusted,
      authz,
      authzCredentials,
      protection,
    });
    const token = chosen.token("access-karma", "karma", {});
    return { chosen, service, token };
  });
  const { value } = await settle(program.service.environment);
  const told = Object.entries(value).filter(([name]) => name.includes("OPENID"));
  return {
    declared,
    ...program,
    told: Object.fromEntries(told.map(([name, text]) => [name.slice("LAKEKEEPER__OPENID_".length), text])),
  };
}

const protectedKey = (declared: Declared[]) => declared.find(({ type }) => type === "SigningKey")?.options.protect;
const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString();

test("none: nobody, and an empty token", async () => {
  const { told, token, chosen, declared } = await declare({ mode: "none" });
  expect(told).toEqual({});
  expect((await settle(token)).value).toBe("");
  expect((await settle(chosen.identity("deployer"))).value).toEqual({ kind: "none" });
  expect(declared.map(({ type }) => type)).not.toContain("SigningKey");
});

test("oidc: the provider, and what clients get tokens with", async () => {
  const { told, chosen } = await declare(OIDC);
  expect(told).toEqual({
    PROVIDER_URI: "https://id.example.com/lake",
    AUDIENCE: "api",
    SUBJECT_CLAIM: "oid,sub",
    SCOPE: "lake",
  });
  const { credential, scope } = chosen.selfService!("ml-runner");
  expect(await settle(credential)).toEqual({ value: "m:secret of m", secret: true });
  expect(scope).toBe("lake");
  expect(await settle(chosen.identity("deployer"))).toEqual({
    secret: true,
    value: {
      kind: "client-credentials",
      ...CLIENTS.deployer,
      issuerUrl: "https://id.example.com/lake",
      audience: "api",
      scope: "lake",
      subjectClaims: ["oid", "sub"],
      subject: "deployer",
    },
  });
});

test("oidc after tokens of the stack's own: their issuer too, whose key may go", async () => {
  const { told, declared } = await declare({ ...OIDC, previous: { mode: "bootstrap-token", until: tomorrow() } });
  expect(told).toMatchObject({
    PROVIDER_URI: "https://id.example.com/lake",
    PROVIDERS__PREVIOUS__URI: "http://127.0.0.1:1003",
    PROVIDERS__PREVIOUS__AUDIENCE: "lakekeeper",
    PROVIDERS__PREVIOUS__SUBJECT_CLAIMS: "sub",
    PROVIDERS__PREVIOUS__REQUIRE_CONNECTED_ON_STARTUP: "false",
  });
  expect(protectedKey(declared)).toBe(false);
});

test("tokens of the stack's own after oidc: the provider too", async () => {
  const previous = { mode: "oidc", issuerUrl: "https://id.example.com", audience: "api", until: tomorrow() };
  const { told, declared } = await declare({ previous });
  expect(told).toMatchObject({
    PROVIDER_URI: "http://127.0.0.1:1003",
    PROVIDERS__PREVIOUS__URI: "https://id.example.com",
    PROVIDERS__PREVIOUS__AUDIENCE: "api",
  });
  expect(protectedKey(declared)).toBe(true);
});

test("a provider whose time is over is nobody's any more", async () => {
  const { told, declared } = await declare({ ...OIDC, previous: { mode: "bootstrap-token", until: "2020-01-01" } });
  expect(Object.keys(told)).not.toContain("PROVIDERS__PREVIOUS__URI");
  expect(protectedKey(declared)).toBeUndefined();
});

describe("users, as Lakekeeper calls them", () => {
  test("are those that the stack names in its own tokens", async () => {
    const { chosen } = await declare({});
    expect((await settle(chosen.user("karma"))).value).toBe("oidc~karma");
  });

  test("are those that the provider names in theirs, by the claims that Lakekeeper is told", async () => {
    const clients = Object.fromEntries(Object.values(CLIENTS).map((one) => [one.clientId, one.clientSecret]));
    const provider = await startOpenIdProvider({ clients, audience: "api", scope: "lake" });
    const { chosen } = await declare({ ...OIDC, issuerUrl: provider.url });
    expect((await settle(chosen.user("ml-runner"))).value).toBe("oidc~m");
    expect((await settle(chosen.user("deployer"))).value).toBe("oidc~d");
    await provider.close();
  });
});
