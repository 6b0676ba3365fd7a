import * as pulumi from "@pulumi/pulumi";
import { CatalogAccess } from "./components/access.ts";
import { authentication as selectAuthentication, trust as trustOf } from "./components/authentication.ts";
import { CatalogAuthorization } from "./components/authorization.ts";
import { LakekeeperLifecycle } from "./components/lifecycle.ts";
import { MlRunner } from "./components/mlRunner.ts";
import { MlRunnerService } from "./components/mlRunnerService.ts";
import { LakekeeperPostgres } from "./components/postgres.ts";
import { Registration } from "./components/registration.ts";
import { LakekeeperService } from "./components/service.ts";
import { CatalogVerification } from "./components/verification.ts";
import { LakekeeperWarehouse } from "./components/warehouse.ts";
import { readConfig } from "./config.ts";
import { Cutover } from "./providers/cutover.ts";
import { ignoreHangUp } from "./providers/hangUp.ts";
import { selectPlatform } from "./platforms/select.ts";

ignoreHangUp();

const config = readConfig();
// Once Lakekeeper commits, it alone knows where the tables are: from then on what holds that is protected in any case.
const protect = config.protect || config.cutover === "write" || config.cutover === "retired";
const phase = new Cutover("cutover", { phase: config.cutover }, { protect });
const protection = { protect, dependsOn: phase };
const platform = selectPlatform(config, protection);

// F1: Postgres, migrate, serve, answer.
const postgres = new LakekeeperPostgres("postgres", { platform, protection });
const authenticating = { platform, auth: config.auth, clients: config.authClients, protection };
const authentication = selectAuthentication(authenticating);
const trust = trustOf(authentication, authenticating);
const service = new LakekeeperService("lakekeeper", {
  postgres,
  trust,
  authz: config.authz,
  authzCredentials: config.authzCredentials,
  protection,
});
const lifecycle = new LakekeeperLifecycle("lakekeeper", {
  platform,
  postgres,
  service,
  trust,
  version: config.version,
  restoredBackup: config.restoredBackup,
});

// F3 comes before F2 in the graph: Lakekeeper takes a warehouse from no one until it has been bootstrapped.
const access = new CatalogAccess("access", { authentication, auth: config.auth, lifecycle, openFga: service.openFga });
const { connection, tokens } = access;

// F2: the warehouse on the bucket.
const storage = platform.storage("r2");
const warehouse = new LakekeeperWarehouse("warehouse", {
  connection,
  warehouse: config.warehouse,
  storage,
  namespaces: config.namespaces,
  allowReplace: config.allowReplace,
  protection,
});

// Where OpenFGA decides: what the clients may do there.
const authorization =
  service.openFga && new CatalogAuthorization("authorization", { connection, authentication, warehouse, protection });

// P2.2: the tables of the SqlCatalog, under their current metadata files.
const registration = new Registration("registration", {
  connection,
  warehouse,
  platform,
  sqlCatalog: config.sqlCatalog,
  sqlCatalogName: config.sqlCatalogName,
  namespaces: config.namespaces,
  concurrency: config.registrationConcurrency,
  allowUnregister: config.allowUnregister,
  phase: config.cutover,
  protection,
});

// F4: proof.
const proof = new CatalogVerification("verification", {
  connection,
  lifecycle,
  warehouse,
  registration,
  storage,
  authentication,
  authorization,
  tokens,
  namespaces: config.namespaces,
  vending: config.vending,
  verification: config.verification,
  phase: config.cutover,
});

// The flip: what the ml-runner is given.
const mlRunner = new MlRunner("ml-runner", {
  catalogUrl: pulumi.interpolate`${lifecycle.uri}/catalog`,
  warehouse: config.warehouse,
  token: tokens["ml-runner"],
  verification: proof.result,
  phase: phase.phase,
});

if (config.mlRunner !== undefined) {
  new MlRunnerService("ml-runner-service", {
    service: config.mlRunner,
    environment: mlRunner.environment,
    karmaToken: tokens.karma,
    timeoutSeconds: config.railway.deployTimeoutSeconds,
  });
}

export const mlRunnerEnv = pulumi.secret(pulumi.output(mlRunner.environment));
export const {
  LAKEHOUSE_CATALOG_TYPE,
  LAKEHOUSE_REST_URI,
  LAKEHOUSE_REST_WAREHOUSE,
  LAKEHOUSE_CATALOG_TOKEN,
  LAKEHOUSE_REST_VENDING,
} = mlRunner.environment;
export const karmaToken = tokens.karma;
export const deployerToken = tokens.deployer;
// For clients that get their tokens themselves; undefined where the stack hands out tokens.
const selfService = authentication.selfService?.("ml-runner");
export const mlRunnerCredential = selfService?.credential;
export const oauth2ServerUri = selfService?.oauth2ServerUri;
export const scope = selfService?.scope;
export const catalogUrl = mlRunner.environment.LAKEHOUSE_REST_URI;
export const warehouseId = warehouse.warehouse.warehouseId;
export const lakekeeperRuntime = platform.runtime;
export const verification = proof.result.report;
export const cutover = phase.phase;
