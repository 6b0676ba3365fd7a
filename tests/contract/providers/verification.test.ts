import provider, { type VerificationOutputs } from "../../../providers/verification.provider.ts";
import type { VerificationInputs } from "../../../providers/verification/inputs.ts";
import { formatReport, type Check, type Report } from "../../../providers/verification/report.ts";
import { runVerification } from "../../../providers/verification/run.ts";
import { DATA_KEY, FakeCatalog, METADATA_KEY, OWN, READER_TOKEN, WAREHOUSE_ID } from "../../support/fakeCatalog.ts";

const LIST_DEFAULT = `GET /catalog/v1/${WAREHOUSE_ID}/namespaces/main%1Fdefault/tables`;
const LIST_TEST = `GET /catalog/v1/${WAREHOUSE_ID}/namespaces/main%1Ftest/tables`;

let catalog: FakeCatalog;
beforeEach(async () => (catalog = await new FakeCatalog().start()));
afterEach(() => catalog.stop());

const inputs = (changed: Partial<VerificationInputs> = {}) => catalog.inputs(changed);

const outcomes = ({ checks }: Report) => Object.fromEntries(checks.map(({ check, outcome }) => [check, outcome]));
const named = ({ checks }: Report, name: string): Check => checks.find(({ check }) => check === name)!;

test("a catalog that does what it must is green in every check", async () => {
  const report = await runVerification(inputs());
  expect(report.checks.filter(({ outcome }) => outcome !== "passed")).toEqual([]);
  expect(report.checks.map(({ check }) => check)).toEqual([
    "health",
    "no access without a token",
    "config with the token",
    "namespaces",
    "table loads",
    "no keys for a client with its own",
    "vended credentials",
    "vended: metadata file",
    "vended: data file",
    "vended: refused outside the table",
    "vended: writes",
    "metadata as in the bucket",
  ]);
  expect(report).toMatchObject({ vendingVerified: true, fatal: [] });
});

test("what was written is deleted again", async () => {
  const before = new Map(catalog.objects);
  await runVerification(inputs());
  expect(catalog.requests.filter((request) => /^PUT .*t000\/(data|metadata)\/probe-/.test(request))).toHaveLength(2);
  expect(catalog.objects).toEqual(before);
});

test("without writeProbe nothing is written", async () => {
  const report = await runVerification(inputs({ writeProbe: false }));
  expect(named(report, "vended: writes")).toMatchObject({ outcome: "skipped", seen: "verification.writeProbe is off" });
  expect(report).toMatchObject({ vendingVerified: true, fatal: [] });
  expect(catalog.requests.filter((request) => !/^(GET|HEAD) /.test(request))).toEqual([]);
});

test("a smoke table that has no data file is verified without one", async () => {
  catalog.objects.delete(DATA_KEY);
  catalog.objects.set(METADATA_KEY, catalog.told.replace('"total-data-files":"1"', '"total-data-files":"0"'));
  catalog.told = catalog.objects.get(METADATA_KEY) as string;
  const report = await runVerification(inputs());
  expect(named(report, "vended: data file")).toMatchObject({ outcome: "skipped", seen: "the table has no data file" });
  expect(report).toMatchObject({ vendingVerified: true, fatal: [] });
});

test("what builds on a failed check is skipped and says on what", async () => {
  catalog.answers["GET /catalog/v1/config"] = {
    status: 404,
    body: { error: { message: "none", type: "X", code: 404 } },
  };
  const report = await runVerification(inputs());
  expect(outcomes(report)).toMatchObject({
    health: "passed",
    "config with the token": "failed",
    "table loads": "skipped",
  });
  expect(named(report, "table loads").seen).toBe('not without "config with the token"');
  expect(named(report, "vended credentials").seen).toBe('not without "table loads"');
});

test("a server that is not there fails at once, in its health alone", async () => {
  await catalog.stop();
  const report = await runVerification(inputs());
  expect(named(report, "health").seen).toMatch(/no answer from http:\/\/127\.0\.0\.1:\d+\/health: ECONNREFUSED/);
  expect(report.checks.filter(({ outcome }) => outcome === "skipped")).toHaveLength(report.checks.length - 1);
  expect(report.checks.reduce((sum, { milliseconds }) => sum + milliseconds, 0)).toBeLessThan(30_000);
  catalog = await new FakeCatalog().start();
});

describe("vending", () => {
  const tooWide = () => (catalog.allows = () => true);

  test("off: not checked, not verified, not fatal", async () => {
    tooWide();
    const report = await runVerification(inputs({ vending: "off", storage: catalog.storage() }));
    expect(named(report, "vended credentials")).toMatchObject({ outcome: "skipped", seen: "vending is off" });
    expect(named(report, "metadata as in the bucket").outcome).toBe("passed");
    expect(report).toMatchObject({ vendingVerified: false, fatal: [] });
  });

  test("off and no keys of its own: the file is not compared, and the report says so", async () => {
    const report = await runVerification(inputs({ vending: "off" }));
    expect(named(report, "metadata as in the bucket").outcome).toBe("skipped");
    expect(report.fatal).toEqual([]);
  });

  test("auto: a failure is told, but not fatal", async () => {
    tooWide();
    const report = await runVerification(inputs({ vending: "auto" }));
    expect(named(report, "vended: refused outside the table").outcome).toBe("failed");
    expect(report).toMatchObject({ vendingVerified: false, fatal: [] });
  });

  test("auto: other failures are fatal all the same", async () => {
    catalog.told = catalog.told.replace("1796075847648", "1796075847649");
    const report = await runVerification(inputs({ vending: "auto" }));
    expect(report.fatal).toEqual([expect.stringContaining("metadata as in the bucket")]);
  });

  test("required, but no table to check it with: fatal", async () => {
    const empty = { smokeTable: "", namespaces: ["main.test"], tableRequired: false };
    catalog.answers[LIST_TEST] = { status: 200, body: { identifiers: [] } };
    const report = await runVerification(inputs(empty));
    expect(named(report, "table loads")).toMatchObject({
      outcome: "skipped",
      seen: "there is no table that could be loaded",
    });
    expect(report.fatal).toEqual([expect.stringContaining("vending is required, but nothing was vended")]);
    const auto = await runVerification(inputs({ ...empty, vending: "auto" }));
    expect(auto).toMatchObject({ vendingVerified: false, fatal: [] });
  });

  test("auto, but readers are pointed at a catalog without a table: fatal", async () => {
    catalog.answers[LIST_TEST] = { status: 200, body: { identifiers: [] } };
    const report = await runVerification(inputs({ smokeTable: "", namespaces: ["main.test"], vending: "auto" }));
    expect(report.fatal).toEqual([
      "table loads: there is no table that could be loaded; keep lakekeeper:cutover at sql until one is registered",
    ]);
  });

  test("without a registered table, one that the catalog has is looked at", async () => {
    catalog.answers[LIST_TEST] = { status: 200, body: { identifiers: [] } };
    const identifiers = [{ namespace: ["main", "default"], name: "t000" }];
    catalog.answers[LIST_DEFAULT] = { status: 200, body: { identifiers } };
    const report = await runVerification(inputs({ smokeTable: "", namespaces: ["main.test", "main.default"] }));
    expect(named(report, "table loads").seen).toContain("main.default.t000 at s3://");
    expect(report).toMatchObject({ vendingVerified: true, fatal: [] });
  });
});

test("no secret is in a report, not even when a server sends it back", async () => {
  for (const path of [METADATA_KEY, DATA_KEY]) {
    const body = "<Error><Code>Odd</Code><Message>you sent vended-session-token and VENDEDKEY</Message></Error>";
    catalog.answers[`GET /lakehouse/${path}`] = { status: 400, body };
  }
  const report = JSON.stringify(await runVerification(inputs({ storage: catalog.storage() })));
  expect(report).toContain("you sent [secret] and [secret]");
  for (const secret of [READER_TOKEN, OWN.secret, "vended-secret-key", "vended-session-token", "VENDEDKEY"]) {
    expect(report).not.toContain(secret);
  }
});

test("the report is a table with the failed checks standing out", async () => {
  const report: Report = {
    verifiedAt: "2026-01-01T00:00:00.000Z",
    checks: [
      { check: "health", outcome: "passed", seen: "ok", milliseconds: 3 },
      { check: "namespaces", outcome: "failed", seen: "not listed: main", milliseconds: 120 },
    ],
    vendingVerified: false,
    fatal: [],
  };
  expect(formatReport(report)).toBe("passed  health        3 ms  ok\nFAILED  namespaces  120 ms  not listed: main");
});

describe("the resource", () => {
  const green = async (): Promise<VerificationOutputs> => (await provider.create(inputs())).outs;

  test("keeps the report, and changes nothing while nothing changes", async () => {
    const outs = await green();
    expect(outs).toMatchObject({ vendingVerified: true, report: { fatal: [] } });
    expect(await provider.diff("verification", outs, inputs())).toEqual({ changes: false });
    expect(await provider.read("verification", outs)).toEqual({ id: "verification", props: outs });
  });

  test.each<Partial<VerificationInputs>>([
    { triggers: { tables: "changed" } },
    { readerToken: "renewed" },
    { vending: "off" },
    { smokeTable: "main.default.t001" },
    { namespaces: ["main"] },
  ])("checks again when %j", async (changed) => {
    expect(await provider.diff("verification", await green(), inputs(changed))).toEqual({ changes: true });
  });

  test("fails with the reasons, keeps the report, and is green after the repair", async () => {
    catalog.tokenNeeded = false;
    const failed = (await provider.create(inputs()).catch((error: unknown) => error)) as {
      id: string;
      reasons: string[];
      properties: VerificationOutputs;
    };
    expect(failed.id).toBe("verification");
    expect(failed.reasons.join("\n")).toMatch(/no access without a token: .*anyone who reaches the catalog/);
    expect(failed.properties.report.checks.length).toBeGreaterThan(10);

    catalog.tokenNeeded = true;
    expect(await provider.diff("verification", failed.properties, inputs())).toEqual({ changes: true });
    const { outs } = await provider.update("verification", failed.properties, inputs());
    expect(outs.report.fatal).toEqual([]);
    expect(await provider.diff("verification", outs, inputs())).toEqual({ changes: false });
  });

  test("with vending auto says what is not verified, and checks again the next time", async () => {
    catalog.allows = () => true;
    const log = jest.spyOn(console, "log").mockImplementation(() => {});
    const { outs } = await provider.create(inputs({ vending: "auto" }));
    expect(outs.vendingVerified).toBe(false);
    expect(log).toHaveBeenCalledWith(expect.stringMatching(/vending is not used.*refused outside the table/));
    expect(await provider.diff("verification", outs, inputs({ vending: "auto" }))).toEqual({ changes: true });
    log.mockRestore();
  });

  test.each<[Partial<VerificationInputs>, string]>([
    [{ smokeTable: "t000" }, 'smokeTable must be namespace.table, such as main.default.t000, or empty, not "t000"'],
    [{ vending: "on" as "off" }, 'vending must be off, auto or required, not "on"'],
    [{ location: "s3://lakehouse/" }, 'location must be s3://bucket or s3://bucket/prefix, not "s3://lakehouse/"'],
    [{ readerToken: "" }, "readerToken must not be empty"],
  ])("refuses %j in the preview", async (changed, reason) => {
    expect((await provider.check({}, inputs(changed))).failures).toEqual([{ property: "", reason }]);
  });
});
