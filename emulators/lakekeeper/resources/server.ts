import { defaultProject, version } from "../catalog.ts";
import { type Answer, type Call, noContent, ok, type Route } from "../http/call.ts";
import { CatalogError } from "../http/errors.ts";
import { boolean, maybe, oneOf, optional, string, struct } from "../http/shape.ts";
import type { Queryable } from "../store/database.ts";
import { upsertUser } from "../store/users.ts";

export interface ServerInfo {
  readonly serverId: string;
  readonly openForBootstrap: boolean;
  readonly termsAccepted: boolean;
}

/** Throws when the database was never migrated. */
export async function readServerInfo(client: Queryable): Promise<ServerInfo> {
  const { rows } = await client.query<ServerInfo>(
    `SELECT server_id AS "serverId", open_for_bootstrap AS "openForBootstrap", terms_accepted AS "termsAccepted" FROM server`,
  );
  if (rows[0] === undefined) throw new Error("ServerIdMissing: the database has no server id; was it migrated?");
  return rows[0];
}

function health({ catalog }: Call): Answer {
  const report = catalog.health.report();
  return { ...ok(report), status: report.health === "ok" ? 200 : 503 };
}

async function info({ catalog }: Call): Promise<Answer> {
  const server = await readServerInfo(catalog.database.read);
  return ok({
    version,
    "lakekeeper-version": version,
    bootstrapped: !server.openForBootstrap,
    "server-id": server.serverId,
    "default-project-id": catalog.settings.defaultProject ? defaultProject : null,
    "authz-backend": catalog.authorizer === undefined ? "allow-all" : "openfga",
    "aws-system-identities-enabled": false,
    "azure-system-identities-enabled": false,
    "gcp-system-identities-enabled": false,
    queues: ["tabular_expiration", "tabular_purge", "task_log_cleanup"],
    "license-status": { issuer: null, audience: "lakekeeper-core", "license-type": "Apache-2.0", valid: true },
  });
}

const bootstrapRequest = struct("BootstrapRequest", {
  "accept-terms-of-use": boolean,
  "is-operator": optional(boolean, false),
  "user-name": maybe(string),
  "user-email": maybe(string),
  "user-type": maybe(oneOf("human", "application")),
});

async function bootstrap(call: Call): Promise<Answer> {
  const { catalog, identity } = call;
  const request = call.body(bootstrapRequest);
  if (!request["accept-terms-of-use"])
    throw new CatalogError(400, "TermsOfUseNotAccepted", "You must accept the terms of use to bootstrap the catalog.");
  const { authorizer } = catalog;
  if (authorizer !== undefined && identity === undefined)
    throw new CatalogError(401, "AnonymousBootstrap", "Anonymous users cannot bootstrap the catalog");
  if (!(await readServerInfo(catalog.database.write)).openForBootstrap)
    throw new CatalogError(400, "CatalogAlreadyBootstrapped", "Catalog is not open for bootstrap");
  await catalog.database.transaction(async (client) => {
    const closed = await client.query(
      "UPDATE server SET open_for_bootstrap = false, terms_accepted = true WHERE open_for_bootstrap",
    );
    if (closed.rowCount === 0)
      throw new CatalogError(
        400,
        "ConcurrentBootstrap",
        "Concurrent bootstrap detected, catalog already bootstrapped.",
      );
    if (identity !== undefined)
      await upsertUser(client, {
        id: identity.userId,
        name: request["user-name"] ?? identity.name,
        email: request["user-email"] ?? identity.email,
        kind: request["user-type"] ?? identity.kind,
        source: "update-endpoint",
      });
    if (identity !== undefined) await authorizer?.bootstrap(identity, request["is-operator"] ? "operator" : "admin");
  });
  if (catalog.settings.defaultProject)
    await catalog.database.transaction(async (client) => {
      const made = await client.query(
        "INSERT INTO project (project_id, name) VALUES ($1, 'Default Project') ON CONFLICT DO NOTHING",
        [defaultProject],
      );
      if (made.rowCount === 1) await authorizer?.createdProject(identity, defaultProject);
    });
  return noContent;
}

export const serverRoutes: readonly Route[] = [
  { method: "GET", path: "/health", handle: health },
  { method: "GET", path: "/management/v1/info", handle: info },
  { method: "POST", path: "/management/v1/bootstrap", handle: bootstrap },
];
