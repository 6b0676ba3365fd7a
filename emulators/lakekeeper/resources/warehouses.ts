import { type Answer, type Call, noContent, ok, type Route } from "../http/call.ts";
import { CatalogError, PlainTextError } from "../http/errors.ts";
import {
  boolean,
  i64,
  list as listOf,
  maybe,
  optional,
  type Shape,
  ShapeError,
  string,
  struct,
  tagged,
} from "../http/shape.ts";
import { type StorageCredential, storageCredential } from "../storage/credential.ts";
import {
  checkProfileUpdate,
  keepSticky,
  normaliseProfile,
  profilesOverlap,
  type StorageProfile,
  storageProfile,
} from "../storage/profile.ts";
import { validateStorage } from "../storage/validation.ts";
import {
  deleteWarehouse,
  findWarehouse,
  insertWarehouse,
  listWarehouses,
  noSuchWarehouse,
  updateWarehouse,
  type Warehouse,
  type WarehouseChange,
  type WarehouseStatus,
} from "../store/warehouses.ts";
import { listable, permitOnProject, permitOnWarehouse } from "./permit.ts";
import { warehouseIdOf } from "./scope.ts";

const deleteProfile = tagged("type", {
  hard: struct("Hard", {}),
  soft: struct("Soft", { "expiration-seconds": i64 }),
});

/** The full answer about a warehouse; of the credential only the kind is ever shown. */
function show(warehouse: Warehouse): object {
  return {
    id: warehouse.id,
    "warehouse-id": warehouse.id,
    name: warehouse.name,
    "project-id": warehouse.projectId,
    "storage-profile": warehouse.profile,
    "storage-credential-type":
      warehouse.credentialType === null ? null : { type: "s3", "credential-type": warehouse.credentialType },
    "delete-profile": warehouse.deleteProfile,
    status: warehouse.status,
    protected: warehouse.protected,
    "managed-by": "self-managed",
    "allowed-format-versions": warehouse.formatVersions,
    "updated-at": warehouse.updatedAt,
  };
}

function checkName(name: string): void {
  if (name === "") throw new CatalogError(400, "EmptyWarehouseName", "Warehouse name cannot be empty");
  if (name.length > 128)
    throw new CatalogError(400, "WarehouseNameTooLong", "Warehouse must be shorter than 128 chars");
}

async function tryStorage(call: Call, profile: StorageProfile, credential: StorageCredential | null): Promise<void> {
  const { settings } = call.catalog;
  if (!settings.skipStorageValidation) await validateStorage(profile, credential, settings.standin.cloudflareApi);
}

/** Format versions of tables that a warehouse takes. */
const formatVersions: Shape<number[]> = (value, path) => {
  const versions = [...new Set(listOf(i64)(value, path))].toSorted();
  const unknown = versions.find((version) => version < 1 || version > 3);
  if (unknown !== undefined) throw new ShapeError(path, `invalid value: integer \`${unknown}\`, expected 1, 2 or 3`);
  if (versions.length === 0)
    throw new CatalogError(400, "EmptyAllowedFormatVersions", "At least one format version must be allowed.");
  return versions;
};

const createRequest = struct("CreateWarehouseRequest", {
  "warehouse-name": string,
  "project-id": maybe(string),
  "storage-profile": storageProfile,
  "storage-credential": maybe(storageCredential),
  "delete-profile": optional(deleteProfile, { type: "hard" as const }),
  "allowed-format-versions": maybe(formatVersions),
});

async function create(call: Call): Promise<Answer> {
  const { authorizer, database, secrets, warehouses } = call.catalog;
  const request = call.body(createRequest);
  const projectId = request["project-id"] ?? call.projectId();
  const credential = request["storage-credential"];
  await permitOnProject(call, projectId, "can_create_warehouse");
  checkName(request["warehouse-name"]);
  const profile = normaliseProfile(request["storage-profile"], credential);
  await tryStorage(call, profile, credential);
  const created = await database.transaction(async (client) => {
    // Two creations must not both find the place free.
    await client.query("SELECT 1 FROM project WHERE project_id = $1 FOR UPDATE", [projectId]);
    const others = await listWarehouses(client, projectId, ["active", "inactive"]);
    const overlapping = others.find((other) => profilesOverlap(other.profile, profile));
    if (overlapping !== undefined) {
      const message = `Storage profile overlaps with existing warehouse ${overlapping.name}`;
      throw new CatalogError(400, "CreateWarehouseStorageProfileOverlap", message);
    }
    const inserted = await insertWarehouse(client, {
      projectId,
      name: request["warehouse-name"],
      profile,
      credentialType: credential?.["credential-type"] ?? null,
      secretId: credential === null ? null : await secrets.insert(client, credential),
      deleteProfile: request["delete-profile"],
      formatVersions: request["allowed-format-versions"] ?? [1, 2, 3],
    });
    await authorizer?.createdWarehouse(call.identity, inserted.id, projectId);
    return inserted;
  });
  warehouses.put(created);
  return { ...ok(show(created)), status: 201 };
}

function wantedStatuses(query: URLSearchParams): WarehouseStatus[] {
  const plain = query.get("warehouseStatus");
  if (plain !== null)
    throw new PlainTextError(
      400,
      `Failed to deserialize query string: warehouseStatus: invalid type: string ${JSON.stringify(plain)}, expected a sequence`,
    );
  const wanted = query.getAll("warehouseStatus[]");
  for (const status of wanted)
    if (status !== "active" && status !== "inactive")
      throw new PlainTextError(
        400,
        `Failed to deserialize query string: warehouseStatus[0]: unknown variant \`${status}\`, expected \`active\` or \`inactive\``,
      );
  return wanted.length > 0 ? (wanted as WarehouseStatus[]) : ["active"];
}

async function list(call: Call): Promise<Answer> {
  const projectId = call.query.get("projectId") ?? call.projectId();
  const statuses = wantedStatuses(call.query);
  await permitOnProject(call, projectId, "can_list_warehouses");
  const found = await listWarehouses(call.catalog.database.read, projectId, statuses);
  const listed = await listable(call, found, ({ id }) => `warehouse:${id}`);
  return ok({ warehouses: listed.map(show) });
}

async function get(call: Call): Promise<Answer> {
  const id = warehouseIdOf(call);
  await permitOnWarehouse(call, id, "can_get_metadata");
  const warehouse = await findWarehouse(call.catalog.database.read, id);
  if (warehouse === undefined) throw noSuchWarehouse(id);
  return ok(show(warehouse));
}

/** Changes a warehouse and what this process remembers of it. */
async function change(call: Call, id: string, what: WarehouseChange): Promise<Answer> {
  const updated = await updateWarehouse(call.catalog.database.write, id, what);
  call.catalog.warehouses.put(updated);
  return ok(show(updated));
}

const renameRequest = struct("RenameWarehouseRequest", { "new-name": string });

async function rename(call: Call): Promise<Answer> {
  const name = call.body(renameRequest)["new-name"];
  checkName(name);
  const id = warehouseIdOf(call);
  await permitOnWarehouse(call, id, "can_rename");
  return change(call, id, { name });
}

async function setStatus(call: Call, status: WarehouseStatus): Promise<Answer> {
  const id = warehouseIdOf(call);
  await permitOnWarehouse(call, id, status === "active" ? "can_activate" : "can_deactivate");
  await updateWarehouse(call.catalog.database.write, id, { status });
  return { status: 200 };
}

/** Replaces profile and credential together; the old credential is gone even when no new one is given. */
async function replaceStorage(
  call: Call,
  current: Warehouse,
  profile: StorageProfile,
  credential: StorageCredential | null,
): Promise<Answer> {
  const { database, secrets, warehouses } = call.catalog;
  await tryStorage(call, profile, credential);
  const updated = await database.transaction(async (client) => {
    const secretId = credential === null ? null : await secrets.insert(client, credential);
    const result = await updateWarehouse(client, current.id, {
      storage_profile: profile,
      credential_type: credential?.["credential-type"] ?? null,
      secret_id: secretId,
    });
    if (current.secretId !== null) await secrets.delete(client, current.secretId);
    return result;
  });
  warehouses.put(updated);
  return ok(show(updated));
}

const storageRequest = struct("UpdateWarehouseStorageRequest", {
  "storage-profile": storageProfile,
  "storage-credential": maybe(storageCredential),
});

async function updateStorage(call: Call): Promise<Answer> {
  const request = call.body(storageRequest);
  const credential = request["storage-credential"];
  const id = warehouseIdOf(call);
  await permitOnWarehouse(call, id, "can_update_storage");
  const current = await call.catalog.warehouses.activeNow(id);
  const profile = keepSticky(current.profile, normaliseProfile(request["storage-profile"], credential));
  checkProfileUpdate(current.profile, profile);
  return replaceStorage(call, current, profile, credential);
}

const credentialRequest = struct("UpdateWarehouseCredentialRequest", {
  "new-storage-credential": maybe(storageCredential),
});

async function updateCredential(call: Call): Promise<Answer> {
  const credential = call.body(credentialRequest)["new-storage-credential"];
  const id = warehouseIdOf(call);
  await permitOnWarehouse(call, id, "can_update_storage_credential");
  const current = await call.catalog.warehouses.activeNow(id);
  return replaceStorage(call, current, normaliseProfile(current.profile, credential), credential);
}

const deleteProfileRequest = struct("UpdateWarehouseDeleteProfileRequest", { "delete-profile": deleteProfile });

async function updateDeleteProfile(call: Call): Promise<Answer> {
  const profile = call.body(deleteProfileRequest)["delete-profile"];
  const id = warehouseIdOf(call);
  await permitOnWarehouse(call, id, "can_modify_soft_deletion");
  await call.catalog.warehouses.active(id);
  return change(call, id, { delete_profile: profile });
}

const protectionRequest = struct("SetProtectionRequest", { protected: boolean });

async function setProtection(call: Call): Promise<Answer> {
  const request = call.body(protectionRequest);
  const { database, warehouses } = call.catalog;
  const id = warehouseIdOf(call);
  await permitOnWarehouse(call, id, "can_set_protection");
  const updated = await updateWarehouse(database.write, id, { protected: request.protected });
  warehouses.put(updated);
  return ok({ protected: updated.protected, updated_at: updated.updatedAt });
}

const formatVersionRequest = struct("UpdateFormatVersionPolicyRequest", { "allowed-format-versions": formatVersions });

async function setFormatVersions(call: Call): Promise<Answer> {
  const versions = call.body(formatVersionRequest)["allowed-format-versions"];
  const id = warehouseIdOf(call);
  await permitOnWarehouse(call, id, "can_set_format_version_policy");
  return change(call, id, { format_versions: versions });
}

async function remove(call: Call): Promise<Answer> {
  const id = warehouseIdOf(call);
  const force = call.flag("force", false);
  await permitOnWarehouse(call, id, "can_delete");
  await call.catalog.database.transaction(async (client) => {
    const deleted = await deleteWarehouse(client, id, force);
    if (deleted.secretId !== null) await call.catalog.secrets.delete(client, deleted.secretId);
  });
  call.catalog.warehouses.forget(id);
  await call.catalog.authorizer?.removed(`warehouse:${id}`);
  return noContent;
}

const warehouse = "/management/v1/warehouse/:id";

export const warehouseRoutes: readonly Route[] = [
  { method: "POST", path: "/management/v1/warehouse", handle: create },
  { method: "GET", path: "/management/v1/warehouse", handle: list },
  { method: "GET", path: warehouse, handle: get },
  { method: "DELETE", path: warehouse, handle: remove },
  { method: "POST", path: `${warehouse}/rename`, handle: rename },
  { method: "POST", path: `${warehouse}/activate`, handle: (call) => setStatus(call, "active") },
  { method: "POST", path: `${warehouse}/deactivate`, handle: (call) => setStatus(call, "inactive") },
  { method: "POST", path: `${warehouse}/storage`, handle: updateStorage },
  { method: "POST", path: `${warehouse}/storage-credential`, handle: updateCredential },
  { method: "POST", path: `${warehouse}/delete-profile`, handle: updateDeleteProfile },
  { method: "POST", path: `${warehouse}/protection`, handle: setProtection },
  { method: "POST", path: `${warehouse}/format-version-policy`, handle: setFormatVersions },
];
