import { decodeJwt } from "jose";
import { obtainToken, type ClientCredentials } from "../../../clients/openId.ts";
import { clock } from "../../../clients/retry.ts";
import { type OpenIdProvider, startOpenIdProvider } from "../../../emulators/issuer/openIdProvider.ts";
import bootstrap from "../../../providers/bootstrap.provider.ts";
import namespaces from "../../../providers/namespaces.provider.ts";
import discovery from "../../../providers/openIdDiscovery.provider.ts";
import oidcToken, { type OidcTokenOutputs } from "../../../providers/oidcToken.provider.ts";

// Tokens of an OpenID provider, got from one that really answers.

const SECRET = "a-secret: with / signs";
const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const { sleep } = clock;

let provider: OpenIdProvider;

beforeEach(async () => {
  clock.sleep = async () => {};
  provider = await startOpenIdProvider({ clients: { "id of ml": SECRET } });
});

afterEach(async () => {
  clock.sleep = sleep;
  await provider.close();
});

const client = (changes: Partial<ClientCredentials> = {}): ClientCredentials => ({
  issuerUrl: provider.url,
  clientId: "id of ml",
  clientSecret: SECRET,
  audience: "lakekeeper",
  subjectClaims: ["sub"],
  subject: "ml-runner",
  ...changes,
});
const inputs = (changes: Partial<ClientCredentials> = {}) => ({ client: client(changes), renewBeforeSeconds: 86_400 });

async function reasons(changes: Partial<ClientCredentials> = {}): Promise<string[]> {
  const { failures } = await oidcToken.check({}, inputs(changes));
  return failures.map(({ reason }) => reason);
}

describe("a token", () => {
  test("is got with the client's secret, and its times are told", async () => {
    const { id, outs } = await oidcToken.create(inputs());
    expect(id).toBe("ml-runner");
    const { sub, iat, exp } = decodeJwt(outs.token);
    expect(sub).toBe("id of ml");
    expect([outs.issuedAt, outs.expiresAt].map((text) => Date.parse(text) / 1_000)).toEqual([iat, exp]);
  });

  test.each([["client_secret_basic"], ["client_secret_post"]])(
    "is got by %s where only that is taken",
    async (method) => {
      provider.authenticationMethods = [method];
      expect(decodeJwt((await obtainToken(client())).token).sub).toBe("id of ml");
    },
  );

  test("comes from another token endpoint when one is given", async () => {
    const other = await startOpenIdProvider({ clients: {} });
    const { failures } = await oidcToken.check({}, inputs({ tokenEndpoint: `${other.url}/token` }));
    await other.close();
    expect(failures[0]?.reason).toContain(`${other.url}/token gives the client id of ml`);
  });

  test("is kept until half of its lifetime is over, however long the window is", async () => {
    const { id, outs } = await oidcToken.create(inputs());
    expect(await oidcToken.diff(id, outs, inputs())).toEqual({ changes: false });
    const aged = (minutes: number): OidcTokenOutputs => {
      const earlier = (text: string) => new Date(Date.parse(text) - minutes * 60_000).toISOString();
      return { ...outs, issuedAt: earlier(outs.issuedAt), expiresAt: earlier(outs.expiresAt) };
    };
    expect(await oidcToken.diff(id, aged(29), inputs())).toEqual({ changes: false });
    expect(await oidcToken.diff(id, aged(31), inputs())).toEqual({ changes: true });
    expect(await oidcToken.diff(id, aged(31), { ...inputs(), renewBeforeSeconds: 60 })).toEqual({ changes: true });
    const renewed = await oidcToken.update(id, aged(31), inputs());
    expect(renewed.outs.token).not.toBe(outs.token);
    const kept = await oidcToken.update(id, outs, { ...inputs(), renewBeforeSeconds: 60 });
    expect(kept.outs).toEqual({ ...outs, renewBeforeSeconds: 60 });
  });

  test("for another secret is another token", async () => {
    const { id, outs } = await oidcToken.create(inputs());
    provider.clients = { "id of ml": "renewed" };
    expect(await oidcToken.diff(id, outs, inputs({ clientSecret: "renewed" }))).toEqual({ changes: true });
  });
});

describe("a preview tells what is wrong, and never the secret", () => {
  afterEach(async () => {
    expect(JSON.stringify(await reasons({ clientSecret: "wrong-secret" }))).not.toContain("wrong-secret");
  });

  test("nothing, when all is well", async () => {
    expect(await reasons()).toEqual([]);
  });

  test("a secret that is no longer taken", async () => {
    expect(await reasons({ clientSecret: "expired-secret" })).toEqual([
      `${provider.url}/token gives the client id of ml of lakekeeper:authClients no token: 401 invalid_client ` +
        "The client secret is invalid.. If its secret has expired or is another one: " +
        "pulumi config set --secret --path lakekeeper:authClients.ml-runner.clientSecret",
    ]);
  });

  test.each([
    [{ audience: "warehouse" }, /it is for lakekeeper, not for warehouse\. Correct lakekeeper:auth\.audience/],
    [{ scope: "catalog" }, /it lacks the scope catalog\./],
    [{ subjectClaims: ["oid"] }, /it has no claim oid to name its user\. Correct lakekeeper:auth\.subjectClaim/],
  ])("a token that Lakekeeper would refuse: %j", async (changes, expected) => {
    expect(await reasons(changes)).toEqual([expect.stringMatching(expected)]);
  });

  // Ahead, its tokens are not valid yet; behind by more than they live, not any more.
  test.each([600, -7_200])("a clock that is wrong by %d seconds", async (seconds) => {
    provider.clockSkewSeconds = seconds;
    expect(await reasons()).toEqual([expect.stringMatching(/it is valid from .* and here it is .* Set the clock/)]);
  });

  test("a provider that is down", async () => {
    await provider.close();
    expect(await reasons()).toEqual([
      expect.stringMatching(/does not serve .*openid-configuration: connect ECONNREFUSED .* See that it is up/),
    ]);
  });

  test("a refresh with a provider that is down keeps what the state says of the catalog", async () => {
    await provider.close();
    const said = jest.spyOn(console, "log").mockImplementation(() => undefined);
    const connection = { uri: "http://127.0.0.1:1", identity: { kind: "client-credentials" as const, ...client() } };
    const outs = { connection, warehouse: "w", warehouseId: "id", namespaces: ["main"], owned: ["main"] };
    expect(await namespaces.read("id", outs)).toEqual({ id: "id", props: outs });
    // The engine compares what was read with the program's inputs.
    const server = { connection, serverId: "s", version: "0.13.3" };
    expect(await bootstrap.diff("s", server, { connection })).toEqual({ changes: false });
    const found = { issuerUrl: provider.url, oauth2ServerUri: `${provider.url}/token` };
    expect(await discovery.diff("id", found, { issuerUrl: provider.url })).toEqual({ changes: false });
    expect(said).toHaveBeenCalledWith(
      expect.stringMatching(/^not refreshed, the state is kept as it is: The OpenID provider does not serve/),
    );
    said.mockRestore();
  });

  test("nothing of what is not known yet", async () => {
    expect(await reasons({ issuerUrl: UNKNOWN })).toEqual([]);
  });
});

describe("discovery", () => {
  const check = async (settings: { issuerUrl?: string; tokenEndpoint?: string } = {}) =>
    (await discovery.check({}, { issuerUrl: provider.url, ...settings })).failures.map(({ reason }) => reason);

  test("names the token endpoint, also with a slash at the end of the issuer", async () => {
    const { outs } = await discovery.create({ issuerUrl: `${provider.url}/` });
    expect(outs.oauth2ServerUri).toBe(`${provider.url}/token`);
    expect(await discovery.diff("id", outs, { issuerUrl: `${provider.url}/` })).toEqual({ changes: false });
    expect(await check()).toEqual([]);
  });

  test("of another issuer is refused", async () => {
    provider.namedIssuer = "https://id.example.com/realms/lake";
    expect(await check()).toEqual([
      expect.stringMatching(/is the discovery document of another issuer, https:\/\/id\.example\.com\/realms\/lake/),
    ]);
  });

  test("that is not there is told with the address that was tried", async () => {
    expect(await check({ issuerUrl: `${provider.url}/realms/lake` })).toEqual([
      expect.stringContaining(`${provider.url}/realms/lake/.well-known/openid-configuration answers 404`),
    ]);
  });

  test("a token endpoint that is not there is told", async () => {
    expect(await check({ tokenEndpoint: `${provider.url}/oauth` })).toEqual([
      expect.stringContaining(`There is nothing at the token endpoint ${provider.url}/oauth (404)`),
    ]);
  });

  test("what is no URL is told before anything is asked", async () => {
    expect(await check({ issuerUrl: "id.example.com" })).toEqual([
      'issuerUrl must be an http or https URL, not "id.example.com"',
    ]);
  });
});
