import { type Answer, type Call, ok, type Route } from "../http/call.ts";
import { CatalogError } from "../http/errors.ts";
import { isUuid } from "../ids.ts";
import { insertUser } from "../store/users.ts";
import { noSuchWarehouseNamed } from "../store/warehouses.ts";
import { permitOnWarehouse } from "./permit.ts";

const namespace = "/v1/{prefix}/namespaces/{namespace}";

/** What the server tells clients it can do; views included, as the real server's list does. */
const endpoints = [
  "GET /v1/config",
  "GET /v1/{prefix}/namespaces",
  `HEAD ${namespace}`,
  "POST /v1/{prefix}/namespaces",
  `GET ${namespace}`,
  `DELETE ${namespace}`,
  `POST ${namespace}/properties`,
  `GET ${namespace}/tables`,
  `POST ${namespace}/tables`,
  `GET ${namespace}/tables/{table}`,
  `POST ${namespace}/tables/{table}`,
  `DELETE ${namespace}/tables/{table}`,
  `HEAD ${namespace}/tables/{table}`,
  `GET ${namespace}/tables/{table}/credentials`,
  "POST /v1/{prefix}/tables/rename",
  `POST ${namespace}/register`,
  `POST ${namespace}/tables/{table}/metrics`,
  "POST /v1/{prefix}/transactions/commit",
  `POST ${namespace}/views`,
  `GET ${namespace}/views`,
  `GET ${namespace}/views/{view}`,
  `POST ${namespace}/views/{view}`,
  `DELETE ${namespace}/views/{view}`,
  `HEAD ${namespace}/views/{view}`,
  "POST /v1/{prefix}/views/rename",
];

/** `name`, or `<project id>/name`. */
function projectAndName(call: Call, warehouse: string): [string, string] {
  const [project = "", name] = warehouse.split("/", 2);
  return name !== undefined && isUuid(project) ? [project, name] : [call.projectId(), warehouse];
}

async function config(call: Call): Promise<Answer> {
  const { catalog, identity } = call;
  if (identity !== undefined)
    await insertUser(catalog.database.write, {
      id: identity.userId,
      name: identity.name,
      email: identity.email,
      kind: identity.kind,
      source: "config-call-creation",
    });
  const wanted = call.query.get("warehouse");
  if (wanted === null)
    throw new CatalogError(
      400,
      "GetConfigNoWarehouseProvided",
      "No warehouse specified. Please specify the 'warehouse' parameter in the GET /config request.",
    );
  const [projectId, name] = projectAndName(call, wanted);
  const warehouse = await catalog.warehouses.activeByName(projectId, name);
  await permitOnWarehouse(call, warehouse.id, "can_get_config", noSuchWarehouseNamed(name));
  const softDelete = warehouse.deleteProfile.type === "soft" && warehouse.profile["push-s3-delete-disabled"];
  return ok({
    overrides: { uri: `${call.baseUri()}/catalog`, "idempotency-key-lifetime": "PT30M" },
    defaults: {
      prefix: warehouse.id,
      "rest-page-size": String(catalog.settings.pageSizeDefault),
      ...(softDelete ? { "s3.delete-enabled": "false" } : {}),
    },
    endpoints,
  });
}

export const configRoutes: readonly Route[] = [{ method: "GET", path: "/catalog/v1/config", handle: config }];
