import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Faults } from "../faults.ts";
import { openRequestLog } from "../requestLog.ts";
import { AuthenticatorChain } from "./auth/chain.ts";
import { migrateAuthorization, openAuthorizationStore } from "./authz/authorizationStore.ts";
import { Authorizer } from "./authz/authorizer.ts";
import type { Catalog } from "./catalog.ts";
import { failureOf } from "./failures.ts";
import { Health } from "./health.ts";
import type { Route } from "./http/call.ts";
import { createListener } from "./http/listener.ts";
import { log } from "./log.ts";
import { commitRoutes } from "./resources/commit.ts";
import { configRoutes } from "./resources/config.ts";
import { createRoutes } from "./resources/create.ts";
import { deletedRoutes } from "./resources/deleted.ts";
import { dropRoutes } from "./resources/drop.ts";
import { namespaceRoutes } from "./resources/namespaces.ts";
import { permissionRoutes } from "./resources/permissions.ts";
import { projectRoutes } from "./resources/projects.ts";
import { registerRoutes } from "./resources/register.ts";
import { readServerInfo, serverRoutes } from "./resources/server.ts";
import { tableRoutes } from "./resources/tables.ts";
import { taskRoutes } from "./resources/tasks.ts";
import { userRoutes } from "./resources/users.ts";
import { viewRoutes } from "./resources/views.ts";
import { warehouseRoutes } from "./resources/warehouses.ts";
import { isUnsafeKey, readSettings, type Environment, type Settings } from "./settings.ts";
import { CredentialCache } from "./storage/vending.ts";
import { Database } from "./store/database.ts";
import { migrate } from "./store/schema.ts";
import { SecretStore } from "./store/secrets.ts";
import { WarehouseCache } from "./store/warehouseCache.ts";
import { TaskWorker } from "./tasks.ts";

// Not imported: the module object that an import makes loads a WebSocket client too, at the price of 10 MB of memory.
const { createServer } = process.getBuiltinModule("node:http");

export const routes: readonly Route[] = [
  ...serverRoutes,
  ...projectRoutes,
  ...userRoutes,
  ...warehouseRoutes,
  ...configRoutes,
  ...namespaceRoutes,
  ...tableRoutes,
  ...registerRoutes,
  ...createRoutes,
  ...commitRoutes,
  ...viewRoutes,
  ...deletedRoutes,
  ...taskRoutes,
  ...dropRoutes,
];

/** How long requests under way may take after the server was told to stop. */
const graceMilliseconds = 20_000;

export interface RunningServer {
  readonly port: number;
  readonly url: string;
  /** Answers what is under way, finishes the task at work, then closes the database. */
  close(): Promise<void>;
}

async function listen(server: Server, port: number, address: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, address, () => resolve());
  });
  return (server.address() as AddressInfo).port;
}

/**
 * Opens pools, checks the database, finds the OpenID provider, and only then opens the port.
 *
 * @throws UserError for a fault that cannot be understood and a request log that cannot be written
 */
export async function serve(settings: Settings): Promise<RunningServer> {
  if (isUnsafeKey(settings))
    log(
      "WARN",
      "lakekeeper",
      "THIS IS UNSAFE! Using default encryption key for secrets in postgres, please set a proper key using LAKEKEEPER__PG_ENCRYPTION_KEY environment variable.",
    );
  const { cloudflareApi, stateCacheSeconds, requestLog } = settings.standin;
  const faults = Faults.fromLines(settings.standin.faults);
  const database = await Database.open(settings.database);
  try {
    const info = await readServerInfo(database.read);
    if (!info.openForBootstrap && !info.termsAccepted)
      throw new Error("The catalog was bootstrapped, but the terms of use were not accepted.");
    const { openFga } = settings;
    const authorizer =
      openFga === undefined ? undefined : new Authorizer(await openAuthorizationStore(openFga), info.serverId);
    log("INFO", "lakekeeper::serve", `Using ${authorizer === undefined ? "AllowAll" : "OpenFGA"} authorizer`);
    const authenticator = settings.openId.length === 0 ? undefined : await AuthenticatorChain.discover(settings.openId);
    if (authenticator === undefined)
      log("WARN", "lakekeeper::serve", "Authentication is disabled. This is not suitable for production!");
    const secrets = new SecretStore(database, settings.encryptionKey);
    const catalog: Catalog = {
      settings,
      database,
      secrets,
      warehouses: new WarehouseCache(database, stateCacheSeconds),
      credentials: new CredentialCache(cloudflareApi),
      tasks: new TaskWorker(database, secrets, authorizer),
      health: new Health(database, authorizer),
      authorizer,
    };
    const answer = createListener(
      catalog,
      authorizer === undefined ? routes : [...routes, ...permissionRoutes],
      authenticator,
    );
    const requests = requestLog === undefined ? undefined : openRequestLog(requestLog);
    const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
      requests?.follow(request, response);
      faults.apply(request, response, failureOf, () => answer(request, response));
    });
    const port = await listen(server, settings.listenPort, settings.bindIp);
    await catalog.health.refresh();
    catalog.health.start(settings.healthSeconds);
    catalog.tasks.start(settings.taskPollSeconds);
    log(
      "INFO",
      "lakekeeper::serve",
      `Listening on ${settings.bindIp}:${port}. This is the stand-in for Lakekeeper, not Lakekeeper itself.`,
    );
    return {
      port,
      url: `http://127.0.0.1:${port}`,
      async close() {
        catalog.health.stop();
        const closed = new Promise((resolve) => server.close(resolve));
        const grace = setTimeout(() => server.closeAllConnections(), graceMilliseconds);
        await Promise.all([closed, catalog.tasks.stop()]);
        clearTimeout(grace);
        await requests?.close();
        await database.close();
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/**
 * Starts a server inside this process, for tests: migrates the database, listens on a free loopback port.
 * `environment` holds LAKEKEEPER__* variables as the command line reads them.
 */
export async function startLakekeeper(environment: Environment): Promise<RunningServer> {
  const settings = readSettings({ LAKEKEEPER__LISTEN_PORT: "0", LAKEKEEPER__BIND_IP: "127.0.0.1", ...environment });
  const database = await Database.openWrite(settings.database);
  await migrate(database).finally(() => database.close());
  if (settings.openFga !== undefined) await migrateAuthorization(settings.openFga);
  return serve(settings);
}
