import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HttpError } from "../../../clients/http.ts";
import { IcebergCatalog } from "../../../clients/iceberg.ts";
import { Lakekeeper, withCatalog, type Assignment } from "../../../clients/lakekeeper.ts";
import { parseLocation, S3Client, S3Error } from "../../../clients/s3.ts";
import { type OpenFga, startOpenFga } from "../../../emulators/openfga/server.ts";
import type { Report } from "../../../providers/verification/report.ts";
import { accessOf } from "../../../providers/verification/vending.ts";
import { type Checkout, makeCheckout, resourceCounts } from "../../support/checkout.ts";
import { doctorInputs } from "../../support/liveStack.ts";

// One local stack beside a stand-in for OpenFGA: in this order.

const KEY = "preshared-key-of-the-test";
const TABLE = { namespace: ["main", "default"], name: "t000" };

let checkout: Checkout;
let directory: string;
let openFga: OpenFga;

beforeAll(async () => {
  checkout = await makeCheckout();
  directory = await mkdtemp(join(tmpdir(), "openfga-"));
  openFga = await startOpenFga({ directory, keys: [KEY] });
});

afterAll(async () => {
  await checkout.remove();
  await openFga.close();
  await rm(directory, { recursive: true });
});

const settings = (apiKey = KEY) => ({
  "lakekeeper:authz": { mode: "openfga", endpoint: openFga.url },
  "lakekeeper:authzCredentials": { apiKey },
  "lakekeeper:verification": { writeProbe: true },
});

/** Works in the stack's warehouse with a token that the stack has handed out. */
async function as<T>(output: string, work: (catalog: IcebergCatalog) => Promise<T>): Promise<T> {
  const outputs = await checkout.outputs();
  const uri = String(outputs["LAKEHOUSE_REST_URI"]).replace(/\/catalog$/, "");
  const identity = { kind: "token" as const, token: String(outputs[output]) };
  return withCatalog({ uri, identity }, (http) => work(new IcebergCatalog(http, String(outputs["warehouseId"]))));
}

const KARMA = "karmaToken";
const ML_RUNNER = "LAKEHOUSE_CATALOG_TOKEN";

/** What an attempt comes to: `done`, or the server's refusal. */
async function outcome(attempt: Promise<unknown>): Promise<string> {
  try {
    await attempt;
    return "done";
  } catch (error) {
    if (error instanceof HttpError) return `${error.status} ${error.type}`;
    if (error instanceof S3Error) return `${error.status} ${error.code}`;
    throw error;
  }
}

/** What the deployer sees and does with the grants of the warehouse. */
async function asDeployer<T>(work: (lakekeeper: Lakekeeper, warehouseId: string) => Promise<T>): Promise<T> {
  const { connection, warehouseId } = await doctorInputs(checkout);
  return withCatalog(connection, (http) => work(new Lakekeeper(http), warehouseId));
}

const granted = async (): Promise<string[]> => {
  const all = await asDeployer((lakekeeper, id) => lakekeeper.warehouseAssignments(id));
  return all.map(({ type, user }) => `${user} ${type}`).sort();
};

const GRANTS = ["oidc~deployer ownership", "oidc~karma select", "oidc~ml-runner create", "oidc~ml-runner modify"];

async function unchanged(): Promise<void> {
  expect(Object.keys(resourceCounts((await checkout.mustMake("up")).output))).toEqual(["unchanged"]);
}

async function refused(what: string, changed: Readonly<Record<string, unknown>>): Promise<string> {
  await checkout.configure(changed);
  const { code, output } = await checkout.make(what);
  expect(code).not.toBe(0);
  expect(output).not.toContain(KEY);
  return output;
}

test("the stack comes up, and has seen that Karma may not write and that the ml-runner may", async () => {
  await checkout.configure(settings());
  const { output } = await checkout.mustMake("up");
  expect(output).toMatch(/^passed +the ml-runner may write /m);
  expect(output).toMatch(/^passed +Karma may read, not write /m);
  // With what the ml-runner is vended.
  expect(output).toMatch(/^passed +vended: writes /m);
  expect(output).not.toContain(KEY);
  const { checks } = (await checkout.outputs())["verification"] as Report;
  expect(checks.filter(({ outcome: how }) => how === "failed")).toEqual([]);
  expect(await granted()).toEqual(GRANTS);
}, 600_000);

test("a second up changes nothing, and neither does a refresh; no secret is in the state in the clear", async () => {
  await unchanged();
  expect(Object.keys(resourceCounts((await checkout.mustMake("refresh")).output))).toEqual(["unchanged"]);
  const { deployment } = JSON.parse(await checkout.engine("stack", "export")) as {
    deployment: { resources: { type: string }[] };
  };
  // The engine keeps a copy of all settings in its providers, and those of this test are not encrypted.
  const resources = deployment.resources.filter(({ type }) => !type.startsWith("pulumi:providers:"));
  expect(JSON.stringify(resources)).not.toContain(KEY);
}, 600_000);

test("Karma reads a table and its files, and may neither write to them nor make or drop anything", async () => {
  const outcomes = await as(KARMA, async (catalog) => {
    const [{ config = {} } = {}] = await catalog.tableCredentials(TABLE);
    const s3 = new S3Client(accessOf(config));
    const metadata = (await catalog.loadTable(TABLE, "client-managed"))!["metadata-location"];
    const { bucket, key } = parseLocation(metadata);
    return {
      read: await outcome(s3.get(bucket, key)),
      overwrite: await outcome(s3.put(bucket, key, "")),
      commit: await outcome(catalog.commitInVain(TABLE)),
      namespace: await outcome(catalog.createNamespace(["karma"])),
      drop: await outcome(catalog.unregisterTable(TABLE)),
    };
  });
  expect(outcomes).toEqual({
    read: "done",
    overwrite: "403 AccessDenied",
    commit: "403 TableActionForbidden",
    namespace: "403 WarehouseActionForbidden",
    drop: "403 TableActionForbidden",
  });
}, 600_000);

test("the ml-runner makes a namespace and drops it, and may commit to a table", async () => {
  const outcomes = await as(ML_RUNNER, async (catalog) => ({
    namespace: await outcome(catalog.createNamespace(["ml"])),
    drop: await outcome(catalog.dropNamespace(["ml"])),
    commit: await outcome(catalog.commitInVain(TABLE)),
  }));
  expect(outcomes).toEqual({ namespace: "done", drop: "done", commit: "409 CatalogCommitConflicts" });
}, 600_000);

test("a grant that was taken by hand comes back with refresh and up, and one of somebody else's stays", async () => {
  const karma: Assignment = { type: "select", user: "oidc~karma" };
  const alice: Assignment = { type: "describe", user: "oidc~alice" };
  await asDeployer((lakekeeper, id) => lakekeeper.changeWarehouseAssignments(id, [alice], [karma]));
  const load = () => as(KARMA, (catalog) => outcome(catalog.tableCredentials(TABLE)));
  expect(await load()).toBe("404 NoSuchTableException");

  const doctor = await checkout.make("doctor");
  expect(doctor.code).not.toBe(0);
  expect(doctor.output).toMatch(/FAILED +Karma may read, not write/);

  await checkout.mustMake("refresh");
  expect(resourceCounts((await checkout.mustMake("up")).output)).toMatchObject({ updated: 1 });
  expect(await load()).toBe("done");
  expect(await granted()).toEqual(["oidc~alice describe", ...GRANTS]);
  await unchanged();
}, 600_000);

describe("what cannot be changed is refused by the preview", () => {
  test("the way back to allow-all", async () => {
    const output = await refused("preview", {});
    expect(output).toContain("lakekeeper:authz.mode cannot go from openfga to allow-all");
    expect(output).toContain("Set lakekeeper:authz.mode back to openfga");
  }, 600_000);

  test("another store", async () => {
    const authz = { mode: "openfga", endpoint: openFga.url, storeName: "another" };
    const output = await refused("preview", { ...settings(), "lakekeeper:authz": authz });
    expect(output).toContain('lakekeeper:authz.storeName cannot go from "lakekeeper-');
    expect(output).toContain('to "another" once the server has been bootstrapped');
  }, 600_000);
});

test("a wrong key is refused and not shown, and changes nothing of what runs", async () => {
  const output = await refused("up", settings("another-key"));
  expect(output).toMatch(/migrate failed: exit code 1/);
  expect(output).toMatch(/OpenFGA at http:\/\/127\.0\.0\.1:\d+: status 401, unauthenticated/);
  expect(output).not.toContain("another-key");
  expect(await as(KARMA, (catalog) => outcome(catalog.loadTable(TABLE, "client-managed")))).toBe("done");
}, 600_000);

test("down takes the stack away, and a new one gets a store of its own", async () => {
  await checkout.configure(settings());
  await checkout.mustMake("down");
  await checkout.mustMake("up");
  expect(await granted()).toEqual(GRANTS);
  await checkout.mustMake("down");
}, 600_000);
