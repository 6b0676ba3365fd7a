import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { request } from "undici";
import { S3Client } from "../../../clients/s3.ts";
import { startR2, type R2 } from "../../../emulators/r2/server.ts";
import type { Report } from "../../../providers/verification/report.ts";
import { runVerification } from "../../../providers/verification/run.ts";
import { DATA_KEY, FakeCatalog, METADATA_KEY } from "../../support/fakeCatalog.ts";

// The same checks, with credentials that the R2 emulator has minted: it verifies signatures, sessions and scopes.

const account = "a".repeat(32);
const token = { id: "0123456789abcdef0123456789abcdef", value: "token-value", permission: "admin-read-write" as const };
const secretAccessKey = createHash("sha256").update(token.value).digest("hex");
const TABLE = "warehouse/main.default/t000";

let directory: string;
let r2: R2;
let catalog: FakeCatalog;
let bucket: S3Client;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "verification-"));
  r2 = await startR2({ directory, accountId: account, tokens: [token], buckets: ["lakehouse"] });
  catalog = await new FakeCatalog().start();
  bucket = new S3Client(storage());
  for (const [key, content] of catalog.objects) await bucket.put("lakehouse", key, content);
});

afterEach(async () => {
  await catalog.stop();
  await r2.close();
  await rm(directory, { recursive: true });
});

function storage() {
  return { endpoint: r2.url, region: "auto", accessKeyId: token.id, secretAccessKey };
}

/** Lets the catalog vend credentials for these prefixes; without any, for the whole bucket. */
async function vend(prefixes?: string[], permission = "object-read-write"): Promise<void> {
  const answer = await request(`${r2.url}/client/v4/accounts/${account}/r2/temp-access-credentials`, {
    method: "POST",
    headers: { authorization: `Bearer ${token.value}`, "content-type": "application/json" },
    body: JSON.stringify({ bucket: "lakehouse", prefixes, permission, ttlSeconds: 3600, parentAccessKeyId: token.id }),
  });
  const { result } = (await answer.body.json()) as { result: Record<string, string> };
  const keys = {
    "s3.endpoint": `${r2.url}/`,
    "s3.access-key-id": result.accessKeyId!,
    "s3.secret-access-key": result.secretAccessKey!,
    "s3.session-token": result.sessionToken!,
  };
  catalog.load = (table, vended) => {
    if (!vended) return table;
    const [{ prefix, config }] = table.credentials as [(typeof table.credentials)[number]];
    return { config: { ...table.config, ...keys }, credentials: [{ prefix, config: { ...config, ...keys } }] };
  };
}

const verify = (writeProbe = true): Promise<Report> =>
  runVerification(catalog.inputs({ writeProbe, storage: storage() }));
const failed = ({ checks }: Report) => checks.filter(({ outcome }) => outcome !== "passed").map(({ check }) => check);
const objects = async () => (await bucket.list("lakehouse", "")).objects.map(({ key }) => key).sort();

test("credentials for the table alone are green, and leave nothing behind", async () => {
  await vend([`${TABLE}/`]);
  const report = await verify();
  expect(failed(report)).toEqual([]);
  expect(report.vendingVerified).toBe(true);
  expect(await objects()).toEqual([DATA_KEY, METADATA_KEY]);
});

test("a compressed metadata file is read", async () => {
  await vend([`${TABLE}/`]);
  await bucket.put("lakehouse", METADATA_KEY, gzipSync(catalog.objects.get(METADATA_KEY)!));
  expect(failed(await verify())).toEqual([]);
});

test.each<[string, string[] | undefined, string]>([
  ["the whole bucket", undefined, "vended: refused outside the table"],
  ["the namespace", ["warehouse/main.default/"], "vended: refused outside the table"],
  ["everything that begins like the table", [TABLE], "vended: refused outside the table"],
  ["the metadata alone", [`${TABLE}/metadata/`], "vended: data file"],
  ["the data alone", [`${TABLE}/data/`], "vended: metadata file"],
])("credentials for %s are not", async (_scope, prefixes, check) => {
  await vend(prefixes);
  const report = await verify();
  expect(failed(report)).toContain(check);
  expect(report.vendingVerified).toBe(false);
  expect(await objects()).toEqual([DATA_KEY, METADATA_KEY]);
});

test("credentials that only read pass until writing is asked for", async () => {
  await vend([`${TABLE}/`], "object-read-only");
  expect((await verify(false)).vendingVerified).toBe(true);
  expect(failed(await verify())).toEqual(["vended: writes"]);
});

test("credentials whose parent was revoked open nothing", async () => {
  await vend([`${TABLE}/`]);
  r2.revokeToken(token.id);
  const report = await verify();
  expect(report.fatal.join("\n")).toMatch(/vended: metadata file: GET .*: 40[13]/);
});
