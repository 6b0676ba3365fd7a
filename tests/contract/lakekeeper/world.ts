import { createHash, randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exportJWK, generateKeyPair, type JWTHeaderParameters, type JWTPayload, SignJWT } from "jose";
import { Faults } from "../../../emulators/faults.ts";
import { startIssuer } from "../../../emulators/issuer/server.ts";
import { type R2, startR2 } from "../../../emulators/r2/server.ts";
import { startTestPostgres, type TestPostgres } from "../../support/postgres.ts";

/** What a catalog stands on: Postgres, an R2 account with the bucket `lakehouse`, and an issuer of tokens. */
export interface World {
  readonly postgres: TestPostgres;
  readonly r2: R2;
  /** How the R2 account is to misbehave; none at first. */
  readonly r2Faults: Faults;
  readonly accountId: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly tokenValue: string;
  readonly issuer: string;
  readonly audience: string;
  /** Settings of a server on a new database of that name. */
  settings(database: string): Promise<Record<string, string>>;
  /** Settings that demand tokens. */
  readonly openId: Record<string, string>;
  /** A JWT; claims override the ordinary ones, and so does the header. */
  sign(subject: string, claims?: JWTPayload, header?: JWTHeaderParameters): Promise<string>;
  close(): Promise<void>;
}

const audience = "lakekeeper";

export async function startWorld(): Promise<World> {
  const scratch = await mkdtemp(join(tmpdir(), "catalog-world-"));
  const accountId = randomBytes(16).toString("hex");
  const accessKeyId = randomBytes(16).toString("hex");
  const tokenValue = randomBytes(20).toString("hex");
  const postgres = await startTestPostgres();
  const r2Faults = new Faults();
  const r2 = await startR2({
    directory: join(scratch, "r2"),
    accountId,
    tokens: [{ id: accessKeyId, value: tokenValue, permission: "admin-read-write" }],
    buckets: ["lakehouse"],
    faults: r2Faults,
  });
  const documents = join(scratch, "issuer");
  await mkdir(join(documents, ".well-known"), { recursive: true });
  const server = await startIssuer({ directory: documents });
  const { publicKey, privateKey } = await generateKeyPair("RS256");
  const key = { ...(await exportJWK(publicKey)), kid: "k1", alg: "RS256", use: "sig" };
  await writeFile(join(documents, "jwks.json"), JSON.stringify({ keys: [key] }));
  const discovery = { issuer: server.url, jwks_uri: `${server.url}/jwks.json` };
  await writeFile(join(documents, ".well-known", "openid-configuration"), JSON.stringify(discovery));
  return {
    postgres,
    r2,
    r2Faults,
    accountId,
    accessKeyId,
    secretAccessKey: createHash("sha256").update(tokenValue).digest("hex"),
    tokenValue,
    issuer: server.url,
    audience,
    openId: {
      LAKEKEEPER__OPENID_PROVIDER_URI: server.url,
      LAKEKEEPER__OPENID_AUDIENCE: audience,
      LAKEKEEPER__OPENID_SUBJECT_CLAIM: "sub",
    },
    async settings(database) {
      return {
        LAKEKEEPER__PG_DATABASE_URL_WRITE: await postgres.createDatabase(database),
        LAKEKEEPER__PG_ENCRYPTION_KEY: "a key for tests",
        LAKEKEEPER__TASK_POLL_INTERVAL: "1",
        LAKEKEEPER_STANDIN__CLOUDFLARE_API: `${r2.url}/client/v4`,
      };
    },
    sign(subject, claims = {}, header = { alg: "RS256", kid: "k1", typ: "JWT" }) {
      const ordinary = { iss: server.url, sub: subject, aud: audience, client_id: subject, name: subject };
      return new SignJWT({ ...ordinary, ...claims })
        .setProtectedHeader(header)
        .setIssuedAt()
        .setExpirationTime(claims.exp ?? "10 minutes")
        .sign(privateKey);
    },
    async close() {
      await Promise.all([server.close(), r2.close(), postgres.stop()]);
      await rm(scratch, { recursive: true, force: true });
    },
  };
}
