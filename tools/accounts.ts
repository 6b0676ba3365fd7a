import { randomBytes, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { z } from "zod";
import { secretAccessKeyOf } from "../clients/r2Keys.ts";
import { codeDigest } from "../platforms/local/code.ts";
import { nodeCommand } from "../platforms/local/node.ts";
import { freePort } from "../platforms/local/ports.ts";
import { ensureRunning } from "../platforms/local/processes.ts";
import sampleLakehouse from "../providers/local/sampleLakehouse.provider.ts";
import { SAMPLE_BUCKET, sampleCatalog } from "./fixtures/sample.ts";
import { checkout, type Stack } from "./stack.ts";

/** What a stack has accounts for, made up once for each emulated stack. */
const accountsSchema = z.object({
  railwayToken: z.string(),
  workspaceId: z.string(),
  cloudflareAccountId: z.string(),
  tokenId: z.string(),
  tokenValue: z.string(),
  ports: z.object({ railway: z.int(), r2: z.int() }),
});

export type Accounts = z.infer<typeof accountsSchema>;

/**
 * Stands in for the operator's accounts on an emulated stack: a Railway workspace, and a Cloudflare account whose bucket
 * holds the sample lakehouse, with the SqlCatalog that points into it. They run on until `make down`.
 *
 * @returns what tells the program of them, as environment variables
 */
export async function emulatedAccounts(stack: Stack): Promise<Record<string, string>> {
  const state = join(checkout, ".state", stack.name);
  const accounts = await made(state);
  await startR2(state, accounts);
  await startRailway(state, accounts);

  const r2 = `http://127.0.0.1:${accounts.ports.r2}`;
  const keys = { accessKeyId: accounts.tokenId, secretAccessKey: secretAccessKeyOf(accounts.tokenValue) };
  await sampleLakehouse.create({ endpoint: r2, region: "auto", bucket: SAMPLE_BUCKET, ...keys });
  const catalog = join(state, "catalog.db");
  if (!existsSync(catalog)) await sampleCatalog(catalog);
  const settings = {
    "lakekeeper:bucket": SAMPLE_BUCKET,
    "lakekeeper:sqlCatalog": `sqlite:///${catalog}`,
    "lakekeeper:railway": { workspaceId: accounts.workspaceId },
    "lakekeeper:auth": { workersUrl: `${r2}/-/workers` },
    "lakekeeper:r2": { accountId: accounts.cloudflareAccountId, endpoint: r2 },
  };
  return {
    LAKEKEEPER_EMULATED_SETTINGS: JSON.stringify(settings),
    RAILWAY_ENDPOINT: `http://127.0.0.1:${accounts.ports.railway}/graphql/v2`,
    RAILWAY_API_TOKEN: accounts.railwayToken,
    // The plugin itself cannot be had everywhere; its stand-in sends the same requests.
    PATH: [join(checkout, "emulators/plugins/bin"), stack.environment.PATH].join(delimiter),
    CLOUDFLARE_BASE_URL: `${r2}/client/v4`,
    CLOUDFLARE_API_TOKEN: accounts.tokenValue,
  };
}

/** @param state the stack's folder for state, whose accounts have been made */
export async function readAccounts(state: string): Promise<Accounts> {
  return accountsSchema.parse(JSON.parse(await readFile(fileIn(state), "utf8")));
}

function fileIn(state: string): string {
  return join(state, "accounts.json");
}

async function made(state: string): Promise<Accounts> {
  const file = fileIn(state);
  if (existsSync(file)) return readAccounts(state);
  const railway = await freePort();
  const accounts: Accounts = {
    railwayToken: randomUUID(),
    workspaceId: randomUUID(),
    cloudflareAccountId: randomBytes(16).toString("hex"),
    tokenId: randomBytes(16).toString("hex"),
    tokenValue: randomBytes(30).toString("base64url"),
    ports: { railway, r2: await freePort(new Set([railway])) },
  };
  await mkdir(state, { recursive: true });
  await writeFile(file, JSON.stringify(accounts), { mode: 0o600, flag: "wx" });
  return accounts;
}

async function startR2(state: string, accounts: Accounts): Promise<void> {
  const environment = {
    R2_EMULATOR_PORT: String(accounts.ports.r2),
    R2_EMULATOR_DIR: join(state, "r2"),
    R2_EMULATOR_ACCOUNT_ID: accounts.cloudflareAccountId,
    R2_EMULATOR_TOKEN_ID: accounts.tokenId,
    R2_EMULATOR_TOKEN_VALUE: accounts.tokenValue,
    R2_EMULATOR_BUCKETS: SAMPLE_BUCKET,
  };
  await start(state, "r2", accounts.ports.r2, environment, ["emulators/r2", "emulators/cloudflare"]);
}

async function startRailway(state: string, accounts: Accounts): Promise<void> {
  const environment = {
    RAILWAY_EMULATOR_PORT: String(accounts.ports.railway),
    RAILWAY_EMULATOR_DIR: join(state, "railway"),
    RAILWAY_EMULATOR_TOKEN: accounts.railwayToken,
    RAILWAY_EMULATOR_WORKSPACE_ID: accounts.workspaceId,
    // Lakekeeper calls Cloudflare at a fixed address; its stand-in can be told another.
    LAKEKEEPER_STANDIN__CLOUDFLARE_API: `http://127.0.0.1:${accounts.ports.r2}/client/v4`,
  };
  await start(state, "railway", accounts.ports.railway, environment, ["emulators/railway"]);
}

async function start(
  state: string,
  name: string,
  port: number,
  environment: Record<string, string>,
  code: string[],
): Promise<void> {
  await ensureRunning({
    state,
    name,
    command: nodeCommand(`emulators/${name}/main.ts`, "serve"),
    environment,
    cwd: checkout,
    port,
    healthUrl: `http://127.0.0.1:${port}/-/health`,
    startTimeoutSeconds: 60,
    // This may be run from any folder.
    codeDigest: await codeDigest(code.map((folder) => join(checkout, folder))),
    logFile: join(state, "logs", `${name}.log`),
  });
}
