import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { request } from "undici";
import { type OpenIdProvider, startOpenIdProvider } from "../../../emulators/issuer/openIdProvider.ts";
import type { Report } from "../../../providers/verification/report.ts";
import { pythonWithPackages } from "../../../tools/python.ts";
import { run } from "../../../tools/run.ts";
import { type Checkout, makeCheckout, resourceCounts } from "../../support/checkout.ts";
import { doctorInputs } from "../../support/liveStack.ts";

// One stack, with nobody's tokens, with those of an OpenID provider, and with its own: in this order.

const CLIENTS = { deployer: "kept-by-deployer", "ml-runner": "kept-by-ml-runner", karma: "kept-by-karma" } as const;

let checkout: Checkout;
let provider: OpenIdProvider;

beforeAll(async () => {
  checkout = await makeCheckout();
  provider = await startOpenIdProvider({ clients: { ...CLIENTS }, scope: "lake" });
});

afterAll(async () => {
  await provider.close();
  await checkout.remove();
});

type Settings = Readonly<Record<string, unknown>>;

const oidc = (auth: Settings = {}, clients: Settings = {}): Settings => ({
  "lakekeeper:auth": { mode: "oidc", issuerUrl: provider.url, scope: "lake", ...auth },
  "lakekeeper:authClients": {
    ...Object.fromEntries(Object.entries(CLIENTS).map(([id, secret]) => [id, { clientId: id, clientSecret: secret }])),
    ...clients,
  },
});

/** The answer to a client that asks for the catalog's configuration, with this token or without any. */
async function config(token?: string): Promise<number> {
  const { LAKEHOUSE_REST_URI: uri, LAKEHOUSE_REST_WAREHOUSE: warehouse } = await checkout.outputs();
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const answer = await request(`${String(uri)}/v1/config?warehouse=${String(warehouse)}`, { headers });
  await answer.body.dump();
  return answer.statusCode;
}

async function failedChecks(): Promise<unknown[]> {
  const { checks } = (await checkout.outputs())["verification"] as Report;
  return checks.filter(({ outcome }) => outcome === "failed");
}

async function unchanged(): Promise<void> {
  expect(Object.keys(resourceCounts((await checkout.mustMake("up")).output))).toEqual(["unchanged"]);
}

describe("auth.mode none", () => {
  test("stands the stack up without an issuer and without tokens", async () => {
    await checkout.configure({ "lakekeeper:auth": { mode: "none" } });
    const { output } = await checkout.mustMake("up");
    expect(output).not.toMatch(/SigningKey|lakekeeper:Token|OidcToken/);
    expect(await failedChecks()).toEqual([]);
    expect(await config()).toBe(200);
    await unchanged();
  }, 600_000);

  test("hands out an empty token, in every format, and the doctor is content", async () => {
    const outputs = await checkout.outputs();
    expect([outputs["LAKEHOUSE_CATALOG_TOKEN"], outputs["karmaToken"], outputs["deployerToken"]]).toEqual(["", "", ""]);
    const env = async (format: string) =>
      (await checkout.mustMake("env", { FORMAT: format, SHOW_SECRETS: "1" })).output;
    expect(await env("dotenv")).toMatch(/^LAKEHOUSE_CATALOG_TOKEN=$/m);
    expect(await env("export")).toMatch(/^export LAKEHOUSE_CATALOG_TOKEN=''$/m);
    expect((await checkout.mustMake("doctor")).output).not.toContain("FAILED");
  }, 600_000);
});

describe("auth.mode oidc", () => {
  const TOKENS = ["LAKEHOUSE_CATALOG_TOKEN", "karmaToken", "deployerToken"] as const;

  const refused = async (settings: Settings): Promise<string> => {
    await checkout.configure(settings);
    const { code, output } = await checkout.make("preview");
    expect(code).not.toBe(0);
    for (const secret of [...Object.values(CLIENTS), "expired-secret"]) expect(output).not.toContain(secret);
    return output;
  };

  test("with a wrong audience is refused by the preview", async () => {
    expect(await refused(oidc({ audience: "warehouse" }))).toContain("it is for lakekeeper, not for warehouse");
  }, 600_000);

  test("with an expired secret is refused by the preview", async () => {
    const karma = { clientId: "karma", clientSecret: "expired-secret" };
    const output = await refused(oidc({}, { karma }));
    expect(output).toContain("gives the client karma of lakekeeper:authClients no token: 401 invalid_client");
    expect(output).toContain("pulumi config set --secret --path lakekeeper:authClients.karma.clientSecret");
  }, 600_000);

  test("with a discovery document of another issuer is refused by the preview", async () => {
    provider.namedIssuer = "https://id.example.com";
    const output = await refused(oidc());
    delete provider.namedIssuer;
    expect(output).toContain("is the discovery document of another issuer, https://id.example.com");
  }, 600_000);

  test("with a provider that is down is refused by up, which changes nothing", async () => {
    await checkout.configure(oidc({ issuerUrl: "http://127.0.0.1:9" }));
    const { code, output } = await checkout.make("up");
    expect(code).not.toBe(0);
    expect(output).toContain("The OpenID provider does not serve http://127.0.0.1:9/.well-known/openid-configuration");
    expect(await config()).toBe(200);
  }, 600_000);

  test("takes the provider's tokens and no others", async () => {
    await checkout.configure(oidc());
    const { output } = await checkout.mustMake("up");
    expect(await failedChecks()).toEqual([]);
    const outputs = await checkout.outputs();
    for (const name of TOKENS) {
      expect(await config(String(outputs[name]))).toBe(200);
      expect(output).not.toContain(String(outputs[name]));
    }
    expect(await config()).toBe(401);
    expect(outputs).toMatchObject({
      mlRunnerCredential: `ml-runner:${CLIENTS["ml-runner"]}`,
      oauth2ServerUri: `${provider.url}/token`,
      scope: "lake",
    });
  }, 600_000);

  test("PyIceberg gets its tokens itself with the outputs", async () => {
    const outputs = await checkout.outputs();
    const settings = {
      uri: outputs["LAKEHOUSE_REST_URI"],
      warehouse: outputs["LAKEHOUSE_REST_WAREHOUSE"],
      credential: outputs["mlRunnerCredential"],
      "oauth2-server-uri": outputs["oauth2ServerUri"],
      scope: outputs["scope"],
    };
    const given = provider.issued;
    const script = join(process.cwd(), "tests/e2e/auth/self_service.py");
    const listed = await run(await pythonWithPackages(), ["-B", script], {
      cwd: checkout.directory,
      env: { CATALOG_SETTINGS: JSON.stringify(settings) },
    });
    expect(JSON.parse(listed)).toEqual(["main.default", "main.test"]);
    expect(provider.issued).toBeGreaterThan(given);
  }, 600_000);

  test("a second up changes nothing, and the state keeps no secret in the clear", async () => {
    await unchanged();
    const { deployment } = JSON.parse(await checkout.engine("stack", "export")) as {
      deployment: { resources: { type: string }[] };
    };
    // The engine keeps a copy of all settings in its providers, and those of this test are not encrypted.
    const resources = deployment.resources.filter(({ type }) => !type.startsWith("pulumi:providers:"));
    expect(resources.length).toBeGreaterThan(20);
    for (const secret of Object.values(CLIENTS)) expect(JSON.stringify(resources)).not.toContain(secret);
  }, 600_000);

  test("renews a token in its window, which the preview says", async () => {
    const before = await checkout.outputs();
    provider.lifetimeSeconds = 2;
    await checkout.engine("up", "--yes", "--skip-preview", "--replace", "**::access-karma");
    provider.lifetimeSeconds = 3_600;
    const short = (await checkout.outputs())["karmaToken"];
    expect(short).not.toBe(before["karmaToken"]);
    await delay(2_000);
    expect((await checkout.mustMake("preview")).output).toMatch(/renew: expires \d{4}-\d\d-\d\dT/);
    expect(resourceCounts((await checkout.mustMake("up")).output)).toMatchObject({ updated: 1 });
    const after = await checkout.outputs();
    expect(after["karmaToken"]).not.toBe(short);
    expect(after["deployerToken"]).toBe(before["deployerToken"]);
  }, 600_000);

  test("the stack itself gets a new token whenever it has to, so that none in its state can be too old", async () => {
    const { connection } = await doctorInputs(checkout);
    expect(connection.identity.kind).toBe("client-credentials");
    const given = provider.issued;
    expect((await checkout.mustMake("doctor")).output).not.toContain("FAILED");
    expect(provider.issued).toBeGreaterThan(given);
  }, 600_000);
});

describe("auth.mode bootstrap-token again", () => {
  const DAY_MS = 86_400_000;
  const until = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();
  let old: string;

  test("the preview says that the provider's tokens would end, and what keeps them valid", async () => {
    await checkout.configure({});
    expect((await checkout.mustMake("preview")).output).toMatch(
      new RegExp(`tokens of ${provider.url} that clients have end with this up: .*lakekeeper:auth\\.previous`),
    );
  }, 600_000);

  test("has keys and tokens of the stack's own, and for a while takes those of the provider before", async () => {
    old = String((await checkout.outputs())["karmaToken"]);
    const previous = { mode: "oidc", issuerUrl: provider.url, scope: "lake", until: until(7) };
    await checkout.configure({ "lakekeeper:auth": { previous } });
    await checkout.mustMake("up");
    expect(await failedChecks()).toEqual([]);
    const outputs = await checkout.outputs();
    expect(await config(String(outputs["karmaToken"]))).toBe(200);
    expect(await config(old)).toBe(200);
    expect(await config()).toBe(401);
    expect(outputs["mlRunnerCredential"]).toBeUndefined();
    await unchanged();
  }, 600_000);

  test("takes no others once that time is over", async () => {
    const previous = { mode: "oidc", issuerUrl: provider.url, scope: "lake", until: until(-1) };
    await checkout.configure({ "lakekeeper:auth": { previous } });
    await checkout.mustMake("up");
    expect(await config(old)).toBe(401);
    expect(await config(String((await checkout.outputs())["karmaToken"]))).toBe(200);
  }, 600_000);

  test("and back to the provider, the stack's own tokens are taken for a while, and then its key goes", async () => {
    const own = String((await checkout.outputs())["karmaToken"]);
    const previous = (days: number) => ({ previous: { mode: "bootstrap-token", until: until(days) } });
    await checkout.configure(oidc(previous(7)));
    await checkout.mustMake("up");
    expect(await config(own)).toBe(200);
    const theirs = String((await checkout.outputs())["karmaToken"]);
    expect(await config(theirs)).toBe(200);

    await checkout.configure(oidc(previous(-1)));
    expect((await checkout.mustMake("up")).output).toContain("SigningKey");
    expect(await config(own)).toBe(401);
    expect(await config(theirs)).toBe(200);
    await unchanged();
  }, 600_000);

  test("a key that is dropped by the provider takes its tokens with it", async () => {
    const theirs = String((await checkout.outputs())["karmaToken"]);
    await provider.replaceKey();
    await checkout.engine("up", "--yes", "--skip-preview", "--replace", "**::access-*");
    const renewed = String((await checkout.outputs())["karmaToken"]);
    expect(renewed).not.toBe(theirs);
    expect(await config(renewed)).toBe(200);
    // A server may remember for a minute that a token was good.
    while ((await config(theirs)) === 200) await delay(500);
    expect(await config(theirs)).toBe(401);
  }, 600_000);

  test("a refresh goes on while the provider is down, and forgets nothing", async () => {
    await provider.close();
    const resources = async () =>
      (
        JSON.parse(await checkout.engine("stack", "export")) as { deployment: { resources: { urn: string }[] } }
      ).deployment.resources.map(({ urn }) => urn);
    const before = await resources();
    const { output } = await checkout.mustMake("refresh");
    expect(output).toContain("not refreshed, the state is kept as it is: The OpenID provider does not serve");
    expect(await resources()).toEqual(before);
  }, 600_000);
});
