import { runVerification } from "../../../providers/verification/run.ts";
import { DATA_KEY, FakeCatalog, LOCATION, METADATA_KEY, WAREHOUSE_ID } from "../../support/fakeCatalog.ts";

let catalog: FakeCatalog;
beforeEach(async () => (catalog = await new FakeCatalog().start()));
afterEach(() => catalog.stop());

/** Each row: how the catalog misbehaves, which check sees it, and what it says. */
const refusals: [string, (catalog: FakeCatalog) => void, string, RegExp][] = [
  [
    "a database that is down",
    (it) => (it.answers["GET /health"] = { status: 503, body: { health: "error" } }),
    "health",
    /\/health answers 503: .*error/,
  ],
  [
    "something else that answers in its place",
    (it) => (it.answers["GET /health"] = { status: 200, body: "<html>", type: "text/html" }),
    "health",
    /\/health answers <html>/,
  ],
  [
    "an answer to everybody",
    (it) => (it.tokenNeeded = false),
    "no access without a token",
    /without a token is answered/,
  ],
  [
    "another address of itself",
    (it) => override(it, { uri: "http://lakekeeper.internal/catalog" }),
    "config with the token",
    /sends clients on to http:\/\/lakekeeper\.internal\/catalog, not .*LAKEKEEPER__BASE_URI/,
  ],
  [
    "another warehouse of that name",
    (it) => override(it, {}, { prefix: "9bd3d9f4-0000-11f1-8000-000000000000" }),
    "config with the token",
    /warehouse lakehouse is 9bd3d9f4.*, not 388c7492/,
  ],
  [
    "a missing namespace",
    (it) =>
      (it.answers[`GET /catalog/v1/${WAREHOUSE_ID}/namespaces`] = { status: 200, body: { namespaces: [["main"]] } }),
    "namespaces",
    /not listed: main\.default/,
  ],
  [
    "a table that is gone",
    (it) =>
      (it.answers[`GET /catalog/v1/${WAREHOUSE_ID}/namespaces/main%1Fdefault/tables/t000`] = {
        status: 404,
        body: { error: { message: "gone", type: "NoSuchTableException", code: 404 } },
      }),
    "table loads",
    /has no table main\.default\.t000/,
  ],
  [
    "a table elsewhere",
    (it) => (it.told = it.told.replace(LOCATION, "s3://other/t000")),
    "table loads",
    /lies at s3:\/\/other\/t000, outside the warehouse at s3:\/\/lakehouse/,
  ],
  [
    "keys in the config of a client with its own",
    (it) => loads(it, (table, vended) => !vended && (table.config["s3.access-key-id"] = "K")),
    "no keys for a client with its own",
    /given s3\.access-key-id/,
  ],
  [
    "keys in the storage-credentials of a client with its own",
    (it) => loads(it, (table, vended) => !vended && (table.credentials[0]!.config["s3.session-token"] = "T")),
    "no keys for a client with its own",
    /given s3\.session-token/,
  ],
  [
    "metadata of another snapshot, one off beyond 2^53",
    (it) => (it.told = it.told.replaceAll("5832468467513096781", "5832468467513096782")),
    "metadata as in the bucket",
    /says something else about current-snapshot-id, snapshots, snapshot-log, refs/,
  ],
  [
    "metadata with another schema",
    (it) => (it.told = it.told.replace("decimal(9,2)", "decimal(9,3)")),
    "metadata as in the bucket",
    /says something else about schemas/,
  ],
  [
    "no storage-credentials",
    (it) => loads(it, (table, vended) => vended && (table.credentials = [])),
    "vended credentials",
    /no storage-credentials/,
  ],
  [
    "credentials for a table beside it",
    (it) => loads(it, (table) => (table.credentials[0]!.prefix = `${LOCATION}1`)),
    "vended credentials",
    /are for .*t0001, not for the table's location .*t000$/,
  ],
  [
    "credentials for the metadata alone",
    (it) => loads(it, (table) => (table.credentials[0]!.prefix = `${LOCATION}/metadata`)),
    "vended credentials",
    /are for .*\/metadata, not for the table's location/,
  ],
  [
    "keys that are not temporary",
    (it) => loads(it, (table) => delete table.credentials[0]!.config["s3.session-token"]),
    "vended credentials",
    /have no s3\.session-token/,
  ],
  [
    "no keys in the config, which some clients read alone",
    (it) => loads(it, (table, vended) => vended && delete table.config["s3.secret-access-key"]),
    "vended credentials",
    /config and storage-credentials differ in s3\.secret-access-key/,
  ],
  [
    "a session that has ended",
    (it) => (it.sessionLeftSeconds = -5),
    "vended credentials",
    /session ends in -5 s; .*sessions of 3600 s/,
  ],
  [
    "a session that is too short",
    (it) => (it.sessionLeftSeconds = 900),
    "vended credentials",
    /session ends in 900 s; .*sessions of 3600 s/,
  ],
  [
    "a session that is too long",
    (it) => (it.sessionLeftSeconds = 86_400),
    "vended credentials",
    /session ends in 86400 s; .*sessions of 3600 s/,
  ],
  [
    "a session without a told end",
    (it) => loads(it, (table) => delete table.credentials[0]!.config["s3.session-token-expires-at-ms"]),
    "vended credentials",
    /ends at no time that is told/,
  ],
  [
    "keys that open nothing",
    (it) => (it.allows = () => false),
    "vended: metadata file",
    /GET .*00001-a\.metadata\.json: 403 AccessDenied/,
  ],
  [
    "keys that open the metadata alone",
    (it) => (it.allows = (_method, key) => key.startsWith("warehouse/main.default/t000/metadata/")),
    "vended: data file",
    /403 AccessDenied/,
  ],
  [
    "data files that lie elsewhere",
    (it) => it.objects.delete(DATA_KEY),
    "vended: data file",
    /has 1 data files, but none lies under s3:\/\/lakehouse\/.*t000\/data\//,
  ],
  [
    "keys that open the whole bucket",
    (it) => (it.allows = () => true),
    "vended: refused outside the table",
    /GET .*main\.default\/probe-.* answers 404, not 403/,
  ],
  [
    "keys that open everything that begins like the table",
    (it) => (it.allows = (_method, key) => key.startsWith("warehouse/main.default/t000")),
    "vended: refused outside the table",
    /GET .*t000-other\/probe-.* answers 404, not 403/,
  ],
  [
    "keys that list what they may not read",
    (it) => (it.allows = (_method, key) => key.endsWith("/") || key.startsWith("warehouse/main.default/t000/")),
    "vended: refused outside the table",
    /LIST s3:\/\/lakehouse\/warehouse\/main\.default\/ is outside the table and succeeds/,
  ],
  [
    "keys that cannot write data",
    (it) => (it.allows = (method, key) => inTable(key) && !(method === "PUT" && key.includes("/data/"))),
    "vended: writes",
    /PUT .*\/data\/probe-.*: 403/,
  ],
  [
    "keys that cannot write metadata",
    (it) => (it.allows = (method, key) => inTable(key) && !(method === "PUT" && key.includes("/metadata/"))),
    "vended: writes",
    /PUT .*\/metadata\/probe-.*: 403/,
  ],
  [
    "keys that cannot delete",
    (it) => (it.allows = (method, key) => inTable(key) && method !== "DELETE"),
    "vended: writes",
    /\/data\/probe-.* was written and is left behind: .*403/,
  ],
  [
    "keys that write beside the table",
    (it) => (it.allows = (method, key) => inTable(key) || method === "PUT" || method === "DELETE"),
    "vended: writes",
    /PUT .*t000-other\/probe-.* is outside the table and succeeds/,
  ],
];

function inTable(key: string): boolean {
  return key.startsWith("warehouse/main.default/t000/");
}

function override(it: FakeCatalog, overrides: object, defaults: object = {}): void {
  const body = {
    overrides: { uri: `${it.uri}/catalog`, ...overrides },
    defaults: { prefix: WAREHOUSE_ID, ...defaults },
  };
  // The same path answers 401 without a token; that check is not what these rows are about.
  it.answers["GET /catalog/v1/config"] = { status: 200, body };
}

function loads(it: FakeCatalog, change: (table: ReturnType<FakeCatalog["load"]>, vended: boolean) => unknown): void {
  it.load = (table, vended) => {
    change(table, vended);
    return table;
  };
}

test.each(refusals)("refuses %s", async (_what, misbehave, check, seen) => {
  misbehave(catalog);
  const report = await runVerification(catalog.inputs({ storage: catalog.storage() }));
  expect(report.checks.find((done) => done.check === check)).toMatchObject({
    outcome: "failed",
    seen: expect.stringMatching(seen) as unknown,
  });
  expect(report.fatal.join("\n")).toMatch(seen);
});

test("an object that could be written beside the table is removed again", async () => {
  catalog.allows = (method, key) => inTable(key) || method === "PUT" || method === "DELETE";
  await runVerification(catalog.inputs());
  expect([...catalog.objects.keys()]).toEqual([METADATA_KEY, DATA_KEY]);
});
