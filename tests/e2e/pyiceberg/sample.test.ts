import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { request } from "undici";
import { S3Client } from "../../../clients/s3.ts";
import { readSqlCatalog } from "../../../clients/sqlCatalog.ts";
import { type RunningServer, startLakekeeper } from "../../../emulators/lakekeeper/server.ts";
import { secretAccessKey } from "../../../emulators/r2/accountTokens.ts";
import { type R2, startR2 } from "../../../emulators/r2/server.ts";
import { SAMPLE_BUCKET, sampleCatalog, sampleObjects, sampleRows } from "../../../tools/fixtures/sample.ts";
import { pythonWithPackages } from "../../../tools/python.ts";
import { run } from "../../../tools/run.ts";
import { startTestPostgres, type TestPostgres } from "../../support/postgres.ts";

// Real PyIceberg against the stand-in and the R2 emulator with the sample lakehouse, without the engine.

const token = { id: "0123456789abcdef0123456789abcdef", value: "token-value", permission: "admin-read-write" as const };

let folder: string;
let postgres: TestPostgres;
let r2: R2;
let lakekeeper: RunningServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "pyiceberg-"));
  postgres = await startTestPostgres();
  r2 = await startR2({
    directory: join(folder, "r2"),
    accountId: "a".repeat(32),
    tokens: [token],
    buckets: [SAMPLE_BUCKET],
  });
  lakekeeper = await startLakekeeper({
    LAKEKEEPER__PG_DATABASE_URL_WRITE: await postgres.createDatabase("lakekeeper"),
    LAKEKEEPER__PG_ENCRYPTION_KEY: "key-of-the-test",
  });
  await post("/management/v1/bootstrap", { "accept-terms-of-use": true });
  await post("/management/v1/warehouse", {
    "warehouse-name": "lakehouse",
    "storage-profile": {
      type: "s3",
      bucket: SAMPLE_BUCKET,
      region: "auto",
      endpoint: r2.url,
      flavor: "s3-compat",
      "path-style-access": true,
      "sts-enabled": true,
    },
    "storage-credential": {
      type: "s3",
      "credential-type": "access-key",
      "access-key-id": token.id,
      "secret-access-key": secretAccessKey(token),
    },
  });
  const bucket = new S3Client({
    endpoint: r2.url,
    region: "auto",
    accessKeyId: token.id,
    secretAccessKey: secretAccessKey(token),
  });
  for (const { key, body } of sampleObjects()) await bucket.put(SAMPLE_BUCKET, key, Buffer.from(body));
}, 600_000);

afterAll(async () => {
  await lakekeeper.close();
  await r2.close();
  await postgres.stop();
  await rm(folder, { recursive: true });
});

async function post(path: string, body: unknown): Promise<void> {
  const answer = await request(`${lakekeeper.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await answer.body.text();
  if (answer.statusCode >= 300) throw new Error(`${path}: ${answer.statusCode} ${text}`);
}

/** What a script of tests/e2e/python prints, when its environment is that of the ml-runner and nothing more. */
async function python(vending: "0" | "1", script: string, ...args: string[]): Promise<unknown> {
  const environment = {
    LAKEHOUSE_CATALOG_TYPE: "rest",
    LAKEHOUSE_REST_URI: `${lakekeeper.url}/catalog`,
    LAKEHOUSE_REST_WAREHOUSE: "lakehouse",
    LAKEHOUSE_CATALOG_TOKEN: "unused-without-openid",
    LAKEHOUSE_REST_VENDING: vending,
    ...(vending === "0" && { AWS_ACCESS_KEY_ID: token.id, AWS_SECRET_ACCESS_KEY: secretAccessKey(token) }),
  };
  const file = resolve("tests/e2e/python", script);
  const output = await run(await pythonWithPackages(), ["-B", file, ...args], { cwd: folder, env: environment });
  return JSON.parse(output);
}

test("registers the sample's 84 tables with register_table, then reads every row", async () => {
  await sampleCatalog(join(folder, "catalog.db"));
  const { tables } = await readSqlCatalog({ uri: `sqlite:///${join(folder, "catalog.db")}` });
  await writeFile(join(folder, "pointers.json"), JSON.stringify(tables));
  const registered = await python("1", "register_loop.py", join(folder, "pointers.json"));
  expect(registered).toEqual({ tables: 84, seconds: expect.any(Number) as number });

  const read = {
    namespaces: ["main", "main.default", "main.test"],
    tables: 84,
    rows: 599,
    rowsOfTable: sampleRows(),
    failures: {},
  };
  expect(await python("1", "read_all.py")).toEqual({ ...read, vended: 84 });
  expect(await python("0", "read_all.py")).toEqual({ ...read, vended: 0 });
}, 600_000);

test("the README's reader reads a table, with vended keys and with its own", async () => {
  const [, example = ""] = /```python\n(.*?)```/s.exec(await readFile("README.md", "utf8")) ?? [];
  const script = join(folder, "reader.py");
  await writeFile(script, example.replace(/^(catalog\.load_table.*)$/m, "print(len($1))"));
  const { "main.default.t000": rows } = sampleRows();
  expect(rows).toBeGreaterThan(0);
  expect(await python("1", script)).toBe(rows);
  expect(await python("0", script)).toBe(rows);
}, 600_000);
