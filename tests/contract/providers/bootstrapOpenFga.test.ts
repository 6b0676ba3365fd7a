import type { Connection } from "../../../clients/token.ts";
import { Lakekeeper, withCatalog, type Assignment } from "../../../clients/lakekeeper.ts";
import bootstrap, { type BootstrapInputs } from "../../../providers/bootstrap.provider.ts";
import { GrantsWorld } from "./grantsWorld.ts";

// The server asks an OpenFGA.

let world: GrantsWorld;
/** Addresses of a catalog that the deployer bootstraps, and of one that somebody else has. */
let fresh: string;
let others: string;

beforeAll(async () => {
  world = await GrantsWorld.start();
  [fresh, others] = [await world.catalog("fresh"), await world.catalog("others")];
  await inCatalog(await as("somebody", others), (lakekeeper) => lakekeeper.bootstrap(true));
});
afterAll(() => world.close());

const as = (subject: string, uri = fresh): Promise<Connection> => world.as(subject, uri);

const authorization = (operator = "oidc~deployer", storeName = "fresh") => ({
  operator,
  endpoint: world.openFga.url,
  storeName,
});

function inCatalog<T>(connection: Connection, work: (lakekeeper: Lakekeeper) => Promise<T>): Promise<T> {
  return withCatalog(connection, (http) => work(new Lakekeeper(http)));
}

test("the deployer becomes operator, once", async () => {
  const inputs = { connection: await as("deployer"), authorization: authorization() };
  const { id, outs } = await bootstrap.create(inputs);
  expect(outs).toEqual({ ...inputs, serverId: id, version: "0.13.3" });
  const operator: Assignment = { type: "operator", user: "oidc~deployer" };
  expect(await inCatalog(inputs.connection, (lakekeeper) => lakekeeper.serverAssignments())).toEqual([operator]);

  expect((await bootstrap.create(inputs)).id).toBe(id);
  expect(await bootstrap.diff(id, outs, inputs)).toEqual({ changes: false });
  expect(await bootstrap.read(id, outs)).toEqual({ id, props: outs });
});

test("a server that somebody else bootstrapped is refused to a deployer who is not its operator", async () => {
  const inputs = { connection: await as("deployer", others), authorization: authorization() };
  await expect(bootstrap.create(inputs)).rejects.toThrow(
    /^oidc~deployer is not operator of Lakekeeper at .*have its operator make it one: POST .*permissions\/server\/assignments/,
  );
});

test("a store that is another catalog's is refused with a way out", async () => {
  const late = await world.catalog("late", "others");
  const inputs = { connection: await as("deployer", late), authorization: authorization("oidc~deployer", "others") };
  await expect(bootstrap.create(inputs)).rejects.toThrow(
    /409 ObjectHasRelations .*Take the stack away \(`down`\), leave lakekeeper:authz.storeName out/,
  );
});

test("a refresh by somebody who is not operator any more is refused, since all would seem gone", async () => {
  const inputs = { connection: await as("somebody", others), authorization: authorization("oidc~somebody") };
  const { id, outs } = await bootstrap.create(inputs);
  const demoted = {
    ...outs,
    connection: await as("nobody", others),
    authorization: authorization("oidc~nobody"),
  };
  await expect(bootstrap.read(id, demoted)).rejects.toThrow("oidc~nobody is not operator");
});

test("a change of who deploys is refused by the preview until the server knows him as operator", async () => {
  const { id, outs } = await bootstrap.create({ connection: await as("deployer"), authorization: authorization() });
  const next = { connection: await as("next"), authorization: authorization("oidc~next") };
  await expect(bootstrap.diff(id, outs, next)).rejects.toThrow("oidc~next is not operator");

  const body = { writes: [{ type: "operator", user: "oidc~next" }] };
  await withCatalog(await as("deployer"), (http) =>
    http.request({ method: "POST", path: "/management/v1/permissions/server/assignments", body }),
  );
  expect(await bootstrap.diff(id, outs, next)).toEqual({ changes: true });
  expect((await bootstrap.update(id, outs, next)).outs).toMatchObject({ authorization: { operator: "oidc~next" } });
});

test("a server that does not decide as this stack says is refused, and nothing is bootstrapped", async () => {
  await expect(bootstrap.create({ connection: await as("deployer") })).rejects.toThrow(
    "decides who may do what by openfga, but lakekeeper:authz.mode is allow-all",
  );
});

describe("on a bootstrapped server the preview refuses", () => {
  const reasons = async (olds: Partial<BootstrapInputs>, news: BootstrapInputs) =>
    (await bootstrap.check(olds, news)).failures.map(({ reason }) => reason);

  test("to go from allow-all to OpenFGA and back", async () => {
    const connection = await as("deployer");
    const [without, withIt] = [{ connection }, { connection, authorization: authorization() }];
    expect(await reasons(without, withIt)).toEqual([
      expect.stringMatching(
        /^lakekeeper:authz.mode cannot go from allow-all to openfga .*Set lakekeeper:authz.mode back to allow-all/,
      ),
    ]);
    expect(await reasons(withIt, without)).toEqual([
      expect.stringMatching(
        /^lakekeeper:authz.mode cannot go from openfga to allow-all .*every valid token would be an administrator's/,
      ),
    ]);
    expect(await reasons({}, withIt)).toEqual([]);
    expect(await reasons(withIt, withIt)).toEqual([]);
  });

  test("another store, and takes another address of the same one", async () => {
    const connection = await as("deployer");
    const olds = { connection, authorization: authorization() };
    expect(await reasons(olds, { connection, authorization: authorization("oidc~deployer", "other") })).toEqual([
      expect.stringContaining('lakekeeper:authz.storeName cannot go from "fresh" to "other"'),
    ]);
    const moved = { ...authorization(), endpoint: "http://localhost:9" };
    expect(await reasons(olds, { connection, authorization: moved })).toEqual([]);
  });
});
