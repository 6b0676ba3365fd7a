import bootstrap, { type BootstrapOutputs } from "../../../providers/bootstrap.provider.ts";
import { TestCatalog } from "../../support/catalog.ts";
import { refusal } from "../../support/proxy.ts";

let catalog: TestCatalog;

beforeAll(async () => {
  catalog = await TestCatalog.start();
});
afterAll(() => catalog.stop());
beforeEach(() => catalog.proxy.reset());

const INFO = "GET /management/v1/info";
const INFORMATION = { version: "0.13.3", "authz-backend": "allow-all" };
const inputs = () => ({ connection: catalog.connection });
const bootstrapped = async (): Promise<BootstrapOutputs> => (await bootstrap.create(inputs())).outs;

/** Answers as a server on another database would. */
function swapDatabase(): void {
  const info = { ...INFORMATION, bootstrapped: true, "server-id": "another-server" };
  catalog.proxy.fault = (call) => (call === INFO ? { status: 200, body: info } : undefined);
}

test("a fresh server is bootstrapped once; its server id becomes the resource's id", async () => {
  const first = await bootstrap.create(inputs());
  expect(first.outs).toEqual({ ...inputs(), serverId: first.id, version: "0.13.3" });
  expect(first.id).toMatch(/^[0-9a-f-]{36}$/);
  expect(catalog.proxy.count(/^POST .*bootstrap/)).toBe(1);

  const again = await bootstrap.create(inputs());
  expect(again.id).toBe(first.id);
  expect(catalog.proxy.count(/^POST .*bootstrap/)).toBe(1);
});

test.each(["CatalogAlreadyBootstrapped", "ConcurrentBootstrap"])(
  "%s is done: someone else was faster",
  async (type) => {
    const { serverId } = await bootstrapped();
    const info = { ...INFORMATION, bootstrapped: false, "server-id": serverId };
    catalog.proxy.fault = (call) => (call === INFO ? { status: 200, body: info } : refusal(400, type));
    expect((await bootstrap.create(inputs())).id).toBe(serverId);
  },
);

test("any other refusal of the bootstrap is an error with the server's words", async () => {
  const info = { ...INFORMATION, bootstrapped: false, "server-id": "x" };
  catalog.proxy.fault = (call) =>
    call === INFO ? { status: 200, body: info } : refusal(400, "TermsOfUseNotAccepted", "You must accept");
  await expect(bootstrap.create(inputs())).rejects.toThrow("400 TermsOfUseNotAccepted - You must accept");
});

test("a token that is not taken is explained, with the setting and the clock that dates it", async () => {
  catalog.proxy.fault = () => refusal(401, "AuthenticationFailed");
  await expect(bootstrap.create(inputs())).rejects.toThrow(
    /401 .*compare its issuer and audience \(lakekeeper:auth\.audience\).* the clock here, which says \d{4}-.*Z, is right/,
  );
});

test("an unchanged server is no change, an upgraded one and a new connection are", async () => {
  const outs = await bootstrapped();
  expect(await bootstrap.diff(outs.serverId, outs, inputs())).toEqual({ changes: false });
  expect(await bootstrap.diff(outs.serverId, { ...outs, version: "0.13.2" }, inputs())).toEqual({ changes: true });
  const token = { connection: { ...catalog.connection, identity: { kind: "token" as const, token: "a.b.c" } } };
  expect(await bootstrap.diff(outs.serverId, outs, token)).toEqual({ changes: true });
  expect((await bootstrap.update(outs.serverId, { ...outs, version: "0.13.2" }, inputs())).outs).toEqual(outs);
});

test("a server on another database is refused in preview, update and refresh, and nothing is bootstrapped", async () => {
  const outs = await bootstrapped();
  swapDatabase();
  const words = new RegExp(`another-server, but this stack bootstrapped ${outs.serverId}.*pulumi state delete`);
  await expect(bootstrap.diff(outs.serverId, outs, inputs())).rejects.toThrow(words);
  await expect(bootstrap.update(outs.serverId, outs, inputs())).rejects.toThrow(words);
  await expect(bootstrap.read(outs.serverId, outs)).rejects.toThrow(words);
  expect(catalog.proxy.count(/^POST/)).toBe(0);
});

test("a server that does not answer fails no preview, and a refresh keeps the state", async () => {
  const outs = await bootstrapped();
  const said = jest.spyOn(console, "log").mockImplementation();
  catalog.proxy.fault = () => "cut";
  expect(await bootstrap.diff(outs.serverId, outs, inputs())).toEqual({ changes: false });
  expect(await bootstrap.read(outs.serverId, outs)).toEqual({ id: outs.serverId, props: outs });
  expect(said.mock.calls.flat()).toEqual([expect.stringMatching(/^not refreshed, the state is kept as it is: /)]);
  said.mockRestore();
});

test("a refresh reports the version that runs, and forgets a server that waits for its bootstrap again", async () => {
  const outs = await bootstrapped();
  expect(await bootstrap.read(outs.serverId, { ...outs, version: "0.13.2" })).toEqual({
    id: outs.serverId,
    props: outs,
  });
  const info = { ...INFORMATION, bootstrapped: false, "server-id": outs.serverId };
  catalog.proxy.fault = () => ({ status: 200, body: info });
  expect(await bootstrap.read(outs.serverId, outs)).toEqual({});
});

test("deleting touches nothing", async () => {
  const outs = await bootstrapped();
  catalog.proxy.reset();
  await bootstrap.delete(outs.serverId, outs);
  expect(catalog.proxy.calls).toEqual([]);
});

test("bad input is named in the preview, without the secret", async () => {
  const connection = { uri: "lakekeeper:8181", identity: { kind: "token" as const, token: "" } };
  const { failures } = await bootstrap.check({}, { connection });
  expect(failures).toEqual([
    { property: "", reason: "connection.uri must be the http(s) URL of Lakekeeper, without /catalog" },
    { property: "", reason: "connection.identity.token must not be empty" },
  ]);
});

describe("a preview of another provider of tokens", () => {
  const own = "bootstrap-token";
  const theirs = "https://id.example.com";
  const authorization = { operator: "oidc~deployer", endpoint: "http://openfga:8081", storeName: "lakekeeper" };

  async function said(before: string[] | undefined, after: string[], more = {}): Promise<unknown[]> {
    const log = jest.spyOn(console, "log").mockReturnValue();
    const olds = { ...inputs(), ...more, ...(before && { issuers: before }) };
    expect((await bootstrap.check(olds, { ...inputs(), ...more, issuers: after })).failures).toEqual([]);
    const lines: unknown[] = log.mock.calls.flat();
    log.mockRestore();
    return lines;
  }

  test.each([
    [[own], [theirs]],
    [[theirs], [own]],
    [[theirs, own], [own]],
    [[theirs], ["https://id2.example.com"]],
  ])("from %j to %j says that tokens end, and what keeps them valid", async (before, after) => {
    expect(await said(before, after)).toEqual([
      `tokens of ${before[0]} that clients have end with this up: give them the new ones at once, or keep the old ones ` +
        "valid for a while with lakekeeper:auth.previous (mode, until, issuerUrl)",
    ]);
  });

  test.each([
    [[own], [own]],
    [[own], [theirs, own]],
    [[theirs, own], [theirs]],
    [[own], []],
    [[], [own]],
    [undefined, [own]],
  ])("from %j to %j says nothing", async (before, after) => {
    expect(await said(before, after)).toEqual([]);
  });

  test("under OpenFGA, which has no previous one, says that they end", async () => {
    expect(await said([own], [theirs], { authorization })).toEqual([
      "tokens of bootstrap-token that clients have end with this up: give them the new ones at once",
    ]);
  });
});
