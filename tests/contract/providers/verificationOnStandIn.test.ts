import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readSqlCatalog } from "../../../clients/sqlCatalog.ts";
import type { Connection } from "../../../clients/token.ts";
import { startIssuer, type Issuer } from "../../../emulators/issuer/server.ts";
import bootstrap from "../../../providers/bootstrap.provider.ts";
import issuerDocuments from "../../../providers/issuerDocuments.provider.ts";
import namespaces from "../../../providers/namespaces.provider.ts";
import signingKey from "../../../providers/signingKey.provider.ts";
import tables from "../../../providers/tables.provider.ts";
import token, { type TokenInputs, type TokenOutputs } from "../../../providers/token.provider.ts";
import type { VerificationInputs } from "../../../providers/verification/inputs.ts";
import type { Report } from "../../../providers/verification/report.ts";
import { runVerification } from "../../../providers/verification/run.ts";
import warehouse from "../../../providers/warehouse.provider.ts";
import { sampleCatalog, sampleObjects } from "../../../tools/fixtures/sample.ts";
import { r2Credential, TestCatalog } from "../../support/catalog.ts";

// The runbook with the providers alone, on the stand-ins: an issuer, a catalog that believes it, the sample lakehouse.

let folder: string;
let issuer: Issuer;
let catalog: TestCatalog;
let connection: Connection;
let reader: TokenOutputs;
let warehouseId: string;
let pointers: Record<string, string>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "verification-"));
  issuer = await startIssuer({ directory: folder });
  const { outs: key } = await signingKey.create({ algorithm: "ES256", generation: 1, tokenLifetimeSeconds: 3600 });
  await issuerDocuments.create({ directory: folder, issuer: issuer.url, jwks: key.jwks });
  catalog = await TestCatalog.start({
    LAKEKEEPER__OPENID_PROVIDER_URI: issuer.url,
    LAKEKEEPER__OPENID_AUDIENCE: "lakekeeper",
    LAKEKEEPER__OPENID_SUBJECT_CLAIM: "sub",
  });

  const { kid, algorithm, privateKey } = key;
  const signer = { kid, algorithm, issuer: issuer.url, audience: "lakekeeper" };
  connection = {
    uri: catalog.connection.uri,
    identity: { kind: "signing-key", ...signer, privateKey, subject: "deployer" },
  };
  const lifetime = { lifetimeSeconds: 3600, renewBeforeSeconds: 60 };
  const readerInputs: TokenInputs = { ...signer, ...lifetime, signingKey: privateKey, subject: "ml-runner" };
  reader = (await token.create(readerInputs)).outs;

  await bootstrap.create({ connection });
  const made = await warehouse.create({
    connection,
    name: "lakehouse",
    storageProfile: { bucket: "lakehouse", region: "auto", endpoint: catalog.r2.url, pathStyleAccess: true },
    storageCredential: r2Credential(),
  });
  warehouseId = made.id;
  for (const { key: path, body } of sampleObjects()) await catalog.bucket.put("lakehouse", path, Buffer.from(body));
  await sampleCatalog(join(folder, "catalog.db"));
  pointers = (await readSqlCatalog({ uri: `sqlite:///${join(folder, "catalog.db")}` })).tables;
  const names = ["main", "main.default", "main.test"];
  await namespaces.create({ connection, warehouse: "lakehouse", warehouseId, namespaces: names });
  await tables.create({ connection, warehouseId, location: "s3://lakehouse", tables: pointers });
}, 600_000);

afterAll(async () => {
  await catalog.stop();
  await issuer.close();
  await rm(folder, { recursive: true });
});

const verify = (changed: Partial<VerificationInputs> = {}): Promise<Report> =>
  runVerification({
    connection,
    readerToken: reader.token,
    warehouse: "lakehouse",
    warehouseId,
    location: "s3://lakehouse",
    namespaces: ["main", "main.default", "main.test"],
    smokeTable: "main.default.t000",
    tableRequired: true,
    vending: "required",
    writeProbe: true,
    ...changed,
  });
const failed = ({ checks }: Report) => checks.filter(({ outcome }) => outcome === "failed");

test("every check is green, none is skipped", async () => {
  const { checks, vendingVerified } = await verify();
  expect(checks.filter(({ outcome }) => outcome !== "passed")).toEqual([]);
  expect(vendingVerified).toBe(true);
});

test("every table of the sample passes: both format versions, compressed, partitioned, evolved, without data", async () => {
  expect(Object.keys(pointers)).toHaveLength(84);
  for (const smokeTable of Object.keys(pointers)) {
    expect({ smokeTable, failed: failed(await verify({ smokeTable, writeProbe: false })) }).toEqual({
      smokeTable,
      failed: [],
    });
  }
});

test.each<[string, Partial<TokenInputs>]>([
  ["for another audience", { audience: "someone-else" }],
  ["of another issuer", { issuer: "http://127.0.0.1:1" }],
  ["of a key that is not published", { kid: "unknown" }],
])("a token %s is not taken", async (_which, changed) => {
  const { outs } = await token.create({ ...reader, ...changed });
  const report = await verify({ readerToken: outs.token });
  expect(failed(report).map(({ check }) => check)).toEqual(["config with the token"]);
  expect(report.fatal[0]).toMatch(/401 AuthenticationFailed/);
  expect(JSON.stringify(report)).not.toContain(outs.token);
});

test("metadata that has moved on in the bucket behind the catalog's back is seen", async () => {
  const location = pointers["main.default.t001"]!;
  const key = location.slice("s3://lakehouse/".length);
  const original = await catalog.bucket.get("lakehouse", key);
  const edited = original.toString().replace(/"last-updated-ms":\s*\d+/, '"last-updated-ms":1');
  expect(edited).not.toBe(original.toString());
  await catalog.bucket.put("lakehouse", key, edited);
  const report = await verify({ smokeTable: "main.default.t001" });
  await catalog.bucket.put("lakehouse", key, original);
  expect(report.fatal).toEqual([`metadata as in the bucket: ${location} says something else about last-updated-ms`]);
});
