import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { accessToken } from "../../clients/token.ts";
import { S3Client } from "../../clients/s3.ts";
import { startR2 } from "../../emulators/r2/server.ts";
import { secretAccessKey } from "../../emulators/r2/accountTokens.ts";
import type { Report } from "../../providers/verification/report.ts";
import { SAMPLE_BUCKET, sampleObjects, sampleRows } from "../../tools/fixtures/sample.ts";
import { pythonWithPackages } from "../../tools/python.ts";
import { run } from "../../tools/run.ts";
import { type Checkout, makeCheckout, resourceCounts } from "../support/checkout.ts";
import { doctorInputs } from "../support/liveStack.ts";

// A newcomer's way through the local stack with the real engine: the tests run in this order, on one stack.

const VARIABLES = [
  "LAKEHOUSE_CATALOG_TYPE",
  "LAKEHOUSE_REST_URI",
  "LAKEHOUSE_REST_WAREHOUSE",
  "LAKEHOUSE_CATALOG_TOKEN",
  "LAKEHOUSE_REST_VENDING",
] as const;

interface State {
  readonly deployment: {
    readonly resources: {
      readonly urn: string;
      readonly type: string;
      readonly outputs?: Readonly<Record<string, unknown>> & { readonly pid?: number };
    }[];
  };
}

let checkout: Checkout;

beforeAll(async () => {
  checkout = await makeCheckout();
});

afterAll(async () => {
  await checkout.remove();
});

async function resources(): Promise<State["deployment"]["resources"]> {
  return (JSON.parse(await checkout.engine("stack", "export")) as State).deployment.resources;
}

/** Pids of the processes that the stack says it runs. */
async function pids(): Promise<number[]> {
  return (await resources()).flatMap(({ outputs }) => outputs?.pid ?? []);
}

/** A process that ended and that nobody has waited for is still in the table, as a zombie. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** Waits until a process that was killed has left the process table. */
async function kill(pid: number): Promise<void> {
  process.kill(pid, "SIGKILL");
  while (isRunning(pid)) await new Promise((resolve) => setImmediate(resolve));
}

/** The ml-runner with nothing in its environment but the five outputs, and its own keys where vending is off. */
async function readAll(vending: "0" | "1"): Promise<unknown> {
  const outputs = await checkout.outputs();
  const { storage } = await doctorInputs(checkout);
  const environment = {
    ...Object.fromEntries(VARIABLES.map((name) => [name, String(outputs[name])])),
    LAKEHOUSE_REST_VENDING: vending,
    ...(vending === "0" && { AWS_ACCESS_KEY_ID: storage.accessKeyId, AWS_SECRET_ACCESS_KEY: storage.secretAccessKey }),
  };
  const script = join(process.cwd(), "tests/e2e/python/read_all.py");
  return JSON.parse(
    await run(await pythonWithPackages(), ["-B", script], { cwd: checkout.directory, env: environment }),
  );
}

test("one command stands the whole catalog up", async () => {
  const { output } = await checkout.mustMake("up");
  expect(Object.keys(resourceCounts(output))).toEqual(["created"]);
  for (const name of VARIABLES) expect(output).toContain(`${name}=`);

  const outputs = await checkout.outputs();
  expect(outputs["LAKEHOUSE_CATALOG_TYPE"]).toBe("rest");
  expect(outputs["LAKEHOUSE_REST_URI"]).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/catalog$/);
  expect(outputs["LAKEHOUSE_REST_WAREHOUSE"]).toBe("lakehouse");
  expect(outputs["LAKEHOUSE_REST_VENDING"]).toBe("1");
  expect(outputs["cutover"]).toBe("read");
  expect(outputs["lakekeeperRuntime"]).toMatch(/^(binary|stand-in) \d+\.\d+\.\d+$/);
  expect(output).not.toContain(String(outputs["LAKEHOUSE_CATALOG_TOKEN"]));

  const failed = (outputs["verification"] as Report).checks.filter(({ outcome }) => outcome === "failed");
  expect(failed).toEqual([]);
}, 300_000);

test("a second time it changes nothing, and neither does a refresh", async () => {
  expect(Object.keys(resourceCounts((await checkout.mustMake("up")).output))).toEqual(["unchanged"]);
  expect(Object.keys(resourceCounts((await checkout.mustMake("refresh")).output))).toEqual(["unchanged"]);
  expect(Object.keys(resourceCounts((await checkout.mustMake("preview")).output))).toEqual(["unchanged"]);
}, 600_000);

test("PyIceberg, given the five outputs, reads every row of all 84 tables with vended keys and with its own", async () => {
  const everything = { tables: 84, rowsOfTable: sampleRows(), failures: {} };
  expect(await readAll("1")).toMatchObject({ ...everything, vended: 84 });
  expect(await readAll("0")).toMatchObject({ ...everything, vended: 0 });
}, 600_000);

test("the state keeps every secret encrypted and each provider small", async () => {
  const doctor = await doctorInputs(checkout);
  const outputs = await checkout.outputs();
  const state = await checkout.read(".state/pulumi/backend/.pulumi/stacks/lakekeeper/local.json");
  const secrets = [
    doctor.storage.secretAccessKey,
    doctor.connection.identity.kind === "signing-key" ? doctor.connection.identity.privateKey.split("\n")[1] : "",
    ...[outputs["LAKEHOUSE_CATALOG_TOKEN"], outputs["karmaToken"], outputs["deployerToken"]].map(String),
  ];
  for (const secret of secrets) {
    expect(secret?.length).toBeGreaterThan(30);
    expect(state.includes(secret ?? "")).toBe(false);
  }
  expect(state).not.toMatch(/postgresql:\/\/lakekeeper:[^@]+@/);

  const sizes = (await resources()).flatMap(({ urn, outputs: kept }) => {
    const text = kept?.["__provider"];
    return typeof text === "string" ? [{ urn, bytes: text.length }] : [];
  });
  expect(sizes.length).toBeGreaterThan(20);
  expect(sizes.filter(({ bytes }) => bytes >= 3072)).toEqual([]);
}, 600_000);

test("processes that were killed are started by the next up, which looks at the result and changes nothing else", async () => {
  for (const pid of await pids()) await kill(pid);
  const { output } = await checkout.mustMake("up");
  expect(resourceCounts(output)).toMatchObject({ updated: 6 });
  expect((await checkout.mustMake("doctor")).output).not.toContain("FAILED");
}, 600_000);

test("the doctor names the failing check when the server is stopped, and up repairs it", async () => {
  const serve = (await resources()).find(({ urn }) => urn.endsWith("::lakekeeper-serve"));
  await kill(serve?.outputs?.pid ?? 0);
  const sick = await checkout.make("doctor");
  expect(sick.code).not.toBe(0);
  expect(sick.output).toMatch(/^FAILED +health/m);
  expect(sick.output).toContain("make up");
  await checkout.mustMake("up");
  expect((await checkout.make("doctor")).code).toBe(0);
}, 600_000);

test("a warehouse that was renamed by hand gets its name back after a refresh", async () => {
  const { connection, warehouseId } = await doctorInputs(checkout);
  const answer = await fetch(`${connection.uri}/management/v1/warehouse/${warehouseId}/rename`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${await accessToken(connection.identity)}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ "new-name": "somebody-elses" }),
  });
  expect(answer.status).toBe(200);
  await checkout.mustMake("refresh");
  await checkout.mustMake("up");
  expect((await checkout.mustMake("doctor")).output).toContain("passed   config with the token");
}, 600_000);

test("a token that was deleted from the state is issued again, and nothing else changes but what carries it", async () => {
  const urn = (await resources()).find((resource) => resource.urn.endsWith("::access-karma"))?.urn ?? "";
  await checkout.engine("state", "delete", urn, "--yes");
  const { output } = await checkout.mustMake("up");
  expect(resourceCounts(output)).toEqual({ created: 1, unchanged: expect.any(Number) as number });
}, 600_000);

describe("pointers of the SqlCatalog", () => {
  const database = () => join(checkout.directory, ".state/local/catalog.db");
  const table = { namespace: "main.default", name: "t003" };
  let original: string;

  function pointer(): string {
    const db = new DatabaseSync(database());
    const row = db
      .prepare(
        "SELECT metadata_location, previous_metadata_location FROM iceberg_tables WHERE table_namespace = ? AND table_name = ?",
      )
      .get(table.namespace, table.name) as { metadata_location: string; previous_metadata_location: string };
    db.close();
    return row.metadata_location;
  }

  function change(sql: string): void {
    const db = new DatabaseSync(database());
    db.prepare(sql).run(table.namespace, table.name);
    db.close();
  }

  test("a table that left it is unregistered, its files stay, and it comes back with its pointer", async () => {
    original = pointer();
    change("UPDATE iceberg_tables SET iceberg_type = 'VIEW' WHERE table_namespace = ? AND table_name = ?");
    expect((await checkout.mustMake("up")).output).toContain(`${table.namespace}.${table.name}`);
    expect(await readAll("1")).toMatchObject({ tables: 83, failures: {} });

    change("UPDATE iceberg_tables SET iceberg_type = 'TABLE' WHERE table_namespace = ? AND table_name = ?");
    await checkout.mustMake("up");
    expect(await readAll("1")).toMatchObject({ tables: 84, rowsOfTable: sampleRows(), failures: {} });
  }, 600_000);

  test("one outside the warehouse is refused before anything is touched, by name", async () => {
    change(
      "UPDATE iceberg_tables SET metadata_location = 's3://elsewhere/t003/metadata/1.metadata.json' WHERE table_namespace = ? AND table_name = ?",
    );
    const { code, output } = await checkout.make("up");
    expect(code).not.toBe(0);
    expect(output).toContain("main.default.t003");
    expect(output).toContain("s3://elsewhere/t003/metadata/1.metadata.json");
    const db = new DatabaseSync(database());
    db.prepare("UPDATE iceberg_tables SET metadata_location = ? WHERE table_namespace = ? AND table_name = ?").run(
      original,
      table.namespace,
      table.name,
    );
    db.close();
    await checkout.mustMake("up");
    expect(await readAll("1")).toMatchObject({ tables: 84, failures: {} });
  }, 600_000);
});

describe("wrong settings stop a run before it changes anything", () => {
  const settings = (extra: string) => `config:\n  lakekeeper:platform: local\n${extra}`;

  async function upWith(extra: string): Promise<string> {
    await writeFile(join(checkout.directory, "Pulumi.local.yaml"), settings(extra));
    const { code, output } = await checkout.make("up");
    await writeFile(join(checkout.directory, "Pulumi.local.yaml"), settings(""));
    expect(code).not.toBe(0);
    expect(output).not.toContain("unhandled exception");
    return output;
  }

  test.each([
    ["  lakekeeper:vending: maybe\n", 'lakekeeper:vending is "maybe": it must be one of off, auto, required'],
    ["  lakekeeper:sqlCatalog: sqlite:////nowhere/catalog.db\n", "/nowhere/catalog.db"],
    ["  lakekeeper:binary: /bin/true\n", "is not Lakekeeper"],
  ])(
    "%j",
    async (extra, expected) => {
      expect(await upWith(extra)).toContain(expected);
    },
    600_000,
  );

  test("another bucket is refused, since the tables lie in this one", async () => {
    const output = await upWith("  lakekeeper:bucket: another\n");
    expect(output).toContain("resource 'warehouse' has a problem: lakekeeper:bucket cannot change from");
    await checkout.mustMake("up");
  }, 600_000);

  test("and afterwards the stack is as it was", async () => {
    expect(Object.keys(resourceCounts((await checkout.mustMake("up")).output))).toEqual(["unchanged"]);
  }, 600_000);
});

test("down leaves nothing running and every object in the bucket, and up works again on it", async () => {
  const { storage } = await doctorInputs(checkout);
  const running = await pids();
  expect(running.filter(isRunning)).toEqual(running);
  await checkout.mustMake("down");
  expect(running.filter(isRunning)).toEqual([]);

  const token = { id: storage.accessKeyId, value: "of this test", permission: "admin-read-write" as const };
  const r2 = await startR2({
    directory: join(checkout.directory, ".state/local/r2"),
    accountId: "local",
    tokens: [token],
    buckets: [],
  });
  const bucket = new S3Client({
    endpoint: r2.url,
    region: "auto",
    accessKeyId: token.id,
    secretAccessKey: secretAccessKey(token),
  });
  const changed: string[] = [];
  for (const { key, body } of sampleObjects()) {
    const kept = await bucket.get(SAMPLE_BUCKET, key).catch(() => undefined);
    if (kept === undefined || !kept.equals(body)) changed.push(key);
  }
  await r2.close();
  expect(changed).toEqual([]);

  await checkout.mustMake("up");
  expect(await readAll("1")).toMatchObject({ tables: 84, rowsOfTable: sampleRows(), failures: {} });
  await checkout.mustMake("down");
}, 300_000);
