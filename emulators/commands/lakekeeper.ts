import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { UserError } from "../../clients/errors.ts";
import {
  ensureRoleAndDatabase,
  HOST,
  initializeCluster,
  startCluster,
  STOP_SIGNAL,
} from "../../platforms/local/cluster.ts";
import { freePort } from "../../platforms/local/ports.ts";
import { stopProcess } from "../../platforms/local/processId.ts";
import { startLakekeeper } from "../lakekeeper/server.ts";
import { listening, readOptions, remembered, type StandIn } from "./standIn.ts";

interface Secrets {
  encryptionKey: string;
  postgresPassword: string;
  catalogPassword: string;
}

/** A catalog, migrated and not bootstrapped yet. */
export const lakekeeper: StandIn = {
  async start(args) {
    const { directory, port, faults, own } = readOptions("lakekeeper", 8181, args, {
      database: { type: "string" },
      issuer: { type: "string" },
      r2: { type: "string" },
      openfga: { type: "string" },
      "openfga-key": { type: "string" },
      log: { type: "string" },
    });
    const issuer = readUrl("issuer", own.issuer);
    const r2 = readUrl("r2", own.r2);
    const openfga = readUrl("openfga", own.openfga);
    const secrets = await remembered<Secrets>(join(directory, "secrets.json"), () => ({
      encryptionKey: randomSecret(),
      postgresPassword: randomSecret(),
      catalogPassword: randomSecret(),
    }));
    const database = own.database;
    const postgres = database === undefined ? await startPostgres(directory, secrets) : undefined;
    try {
      const running = await listening(
        port,
        startLakekeeper({
          LAKEKEEPER__LISTEN_PORT: String(port),
          LAKEKEEPER__PG_DATABASE_URL_WRITE: database ?? postgres?.url,
          LAKEKEEPER__PG_ENCRYPTION_KEY: secrets.encryptionKey,
          LAKEKEEPER_STANDIN__FAULT: faults.join("\n"),
          LAKEKEEPER_STANDIN__LOG: own.log,
          ...(r2 !== undefined && { LAKEKEEPER_STANDIN__CLOUDFLARE_API: `${r2}/client/v4` }),
          ...(openfga !== undefined && {
            LAKEKEEPER__AUTHZ_BACKEND: "openfga",
            LAKEKEEPER__OPENFGA__ENDPOINT: openfga,
            LAKEKEEPER__OPENFGA__API_KEY: own["openfga-key"],
          }),
          ...(issuer !== undefined && {
            LAKEKEEPER__OPENID_PROVIDER_URI: issuer,
            LAKEKEEPER__OPENID_AUDIENCE: "lakekeeper",
            LAKEKEEPER__OPENID_SUBJECT_CLAIM: "sub",
          }),
        }),
      );
      return {
        text: describe(running.url, directory, issuer),
        async close() {
          await running.close();
          await postgres?.stop();
        },
      };
    } catch (error) {
      await postgres?.stop();
      if (error instanceof UserError || !(error instanceof Error)) throw error;
      throw new UserError(`Lakekeeper's stand-in could not start: ${error.message}`, { cause: error });
    }
  },
};

function describe(url: string, directory: string, issuer: string | undefined): string {
  const token = issuer === undefined ? "" : " -H 'Authorization: Bearer <token>'";
  return `Lakekeeper's stand-in on ${url}, kept in ${directory}

  catalog      ${url}/catalog
  management   ${url}/management/v1
  tokens       ${issuer === undefined ? "not asked for" : `of ${issuer}, for the audience lakekeeper`}

The first call of a new catalog:
  curl ${url}/management/v1/bootstrap -H 'Content-Type: application/json'${token} -d '{"accept-terms-of-use":true}'

PyIceberg, once there is a warehouse:
  RestCatalog("lakekeeper", uri="${url}/catalog", warehouse="<name>"${issuer === undefined ? "" : ', token="<token>"'})
`;
}

async function startPostgres(directory: string, secrets: Secrets): Promise<{ url: string; stop(): Promise<void> }> {
  const cluster = {
    directory: join(directory, "postgres"),
    port: await freePort(),
    superuserPassword: secrets.postgresPassword,
    logFile: join(directory, "postgres.log"),
  };
  await initializeCluster(cluster);
  const id = await startCluster(cluster);
  const name = "lakekeeper";
  await ensureRoleAndDatabase(cluster, { role: name, password: secrets.catalogPassword, database: name });
  return {
    url: `postgresql://${name}:${secrets.catalogPassword}@${HOST}:${cluster.port}/${name}`,
    stop: () => stopProcess(id, STOP_SIGNAL),
  };
}

function readUrl(option: string, value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  if (!/^https?:\/\/[^/]/.test(value)) {
    throw new UserError(`--${option} is ${JSON.stringify(value)}: it is the URL that \`main.ts ${option}\` printed.`);
  }
  return value.replace(/\/+$/, "");
}

/** Begins with a letter: of digits alone, Lakekeeper would take it for a number. */
function randomSecret(): string {
  return `s${randomBytes(16).toString("hex")}`;
}
