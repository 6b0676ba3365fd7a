import { CatalogError } from "../http/errors.ts";
import { uuid7 } from "../ids.ts";
import type { StorageProfile } from "../storage/profile.ts";
import { type Queryable, violatedConstraint } from "./database.ts";
import { rfc3339 } from "./time.ts";

export type WarehouseStatus = "active" | "inactive";
export type DeleteProfile = { type: "hard" } | { type: "soft"; "expiration-seconds": number };

export interface Warehouse {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly profile: StorageProfile;
  readonly credentialType: string | null;
  readonly secretId: string | null;
  readonly deleteProfile: DeleteProfile;
  readonly status: WarehouseStatus;
  readonly protected: boolean;
  readonly formatVersions: readonly number[];
  readonly updatedAt: string | null;
}

const columns = `warehouse_id AS id, project_id AS "projectId", name, storage_profile AS profile,
  credential_type AS "credentialType", secret_id AS "secretId", delete_profile AS "deleteProfile", status, protected,
  format_versions AS "formatVersions", ${rfc3339("updated_at")} AS "updatedAt"`;

export function noSuchWarehouse(id: string): CatalogError {
  const message = `A warehouse with id '${id}' does not exist`;
  return new CatalogError(404, "NoSuchWarehouseException", message, ["Warehouse not found or access denied"]);
}

export function noSuchWarehouseNamed(name: string): CatalogError {
  return new CatalogError(404, "NoSuchWarehouseException", `A warehouse '${name}' does not exist`);
}

export async function findWarehouse(client: Queryable, id: string): Promise<Warehouse | undefined> {
  const { rows } = await client.query<Warehouse>(`SELECT ${columns} FROM warehouse WHERE warehouse_id = $1`, [id]);
  return rows[0];
}

export async function findWarehouseByName(
  client: Queryable,
  projectId: string,
  name: string,
): Promise<Warehouse | undefined> {
  const { rows } = await client.query<Warehouse>(
    `SELECT ${columns} FROM warehouse WHERE project_id = $1 AND lower(name) = lower($2)`,
    [projectId, name],
  );
  return rows[0];
}

export async function listWarehouses(
  client: Queryable,
  projectId: string,
  statuses: readonly WarehouseStatus[],
): Promise<Warehouse[]> {
  const { rows } = await client.query<Warehouse>(
    `SELECT ${columns} FROM warehouse WHERE project_id = $1 AND status = ANY($2) ORDER BY created_at`,
    [projectId, statuses],
  );
  return rows;
}

export type NewWarehouse = Pick<
  Warehouse,
  "projectId" | "name" | "profile" | "credentialType" | "secretId" | "deleteProfile" | "formatVersions"
>;

function alreadyExists(projectId: string, name: string, detail: string): CatalogError {
  const message = `A warehouse with the name '${name}' already exists in project with id '${projectId}'`;
  return new CatalogError(409, "WarehouseAlreadyExists", message, [detail]);
}

/** Throws 409 WarehouseAlreadyExists and 404 ProjectNotFound. */
export async function insertWarehouse(client: Queryable, warehouse: NewWarehouse): Promise<Warehouse> {
  const detail = "Error creating warehouse in catalog";
  try {
    const { rows } = await client.query<Warehouse>(
      `INSERT INTO warehouse (warehouse_id, project_id, name, storage_profile, credential_type, secret_id, delete_profile, format_versions)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING ${columns}`,
      [
        uuid7(),
        warehouse.projectId,
        warehouse.name,
        warehouse.profile,
        warehouse.credentialType,
        warehouse.secretId,
        warehouse.deleteProfile,
        warehouse.formatVersions,
      ],
    );
    return rows[0]!;
  } catch (error) {
    const constraint = violatedConstraint(error);
    if (constraint === "warehouse_name") throw alreadyExists(warehouse.projectId, warehouse.name, detail);
    if (constraint === "warehouse_project")
      throw new CatalogError(404, "ProjectNotFound", `Project with id '${warehouse.projectId}' not found`, [detail]);
    throw error;
  }
}

/** Columns of a warehouse that requests change. */
export type WarehouseChange = Partial<{
  name: string;
  storage_profile: StorageProfile;
  credential_type: string | null;
  secret_id: string | null;
  delete_profile: DeleteProfile;
  status: WarehouseStatus;
  protected: boolean;
  format_versions: readonly number[];
}>;

/** Throws 404 NoSuchWarehouseException, and 409 WarehouseAlreadyExists when the new name is taken. */
export async function updateWarehouse(client: Queryable, id: string, change: WarehouseChange): Promise<Warehouse> {
  const names = Object.keys(change);
  const assignments = names.map((name, index) => `${name} = $${index + 2}`).join(", ");
  try {
    const { rows } = await client.query<Warehouse>(
      `UPDATE warehouse SET ${assignments}, version = version + 1, updated_at = clock_timestamp()
       WHERE warehouse_id = $1 RETURNING ${columns}`,
      [id, ...Object.values(change)],
    );
    if (rows[0] === undefined) throw noSuchWarehouse(id);
    return rows[0];
  } catch (error) {
    if (violatedConstraint(error) !== "warehouse_name") throw error;
    const { rows } = await client.query<{ project: string }>(
      "SELECT project_id AS project FROM warehouse WHERE warehouse_id = $1",
      [id],
    );
    throw alreadyExists(rows[0]?.project ?? "", change.name ?? "", "Error renaming warehouse in catalog");
  }
}

/** Order of refusals as seen with Lakekeeper 0.13.3: unfinished tasks, protection, content. */
export async function deleteWarehouse(client: Queryable, id: string, force: boolean): Promise<Warehouse> {
  const detail = "Error deleting warehouse in catalog";
  const refuse = (type: string, message: string): CatalogError => new CatalogError(409, type, message, [detail]);
  const warehouse = await findWarehouse(client, id);
  if (warehouse === undefined) throw noSuchWarehouse(id);
  const tasks = await client.query("SELECT 1 FROM task WHERE warehouse_id = $1 LIMIT 1", [id]);
  if (tasks.rowCount !== 0)
    throw refuse(
      "WarehouseHasUnfinishedTasks",
      "Warehouse has unfinished tasks. Cannot delete warehouse until all tasks are finished.",
    );
  if (warehouse.protected && !force)
    throw refuse(
      "WarehouseProtected",
      "Warehouse is protected and force flag not set. Cannot delete protected warehouse.",
    );
  try {
    await client.query("DELETE FROM warehouse WHERE warehouse_id = $1", [id]);
  } catch (error) {
    if (violatedConstraint(error) === undefined) throw error;
    throw refuse("WarehouseNotEmpty", "Warehouse is not empty. Cannot delete a non-empty warehouse.");
  }
  return warehouse;
}
