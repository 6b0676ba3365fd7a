import { CatalogError } from "../http/errors.ts";
import type { Page } from "../http/paging.ts";
import { selfAndAncestors } from "../storage/location.ts";
import { type Queryable, violatedConstraint } from "./database.ts";
import { namespaceKey } from "./namespaces.ts";

export type TabularKind = "table" | "view";

/** A table or view with its metadata as JSON text. */
export interface Tabular {
  readonly id: string;
  readonly namespaceId: string;
  readonly name: string;
  readonly location: string;
  readonly metadataLocation: string;
  readonly metadata: string;
  readonly protected: boolean;
}

export interface NewTabular extends Omit<Tabular, "protected"> {
  readonly warehouseId: string;
  readonly kind: TabularKind;
}

const columns = `tabular_id AS id, tabular.namespace_id AS "namespaceId", tabular.name, location,
  metadata_location AS "metadataLocation", metadata, tabular.protected`;

export function noSuchTabular(kind: TabularKind, ...details: string[]): CatalogError {
  const type = kind === "table" ? "NoSuchTableException" : "NoSuchViewException";
  return new CatalogError(404, type, "Error getting tabular from catalog", details);
}

export function tabularExists(detail = "Error creating tabular in catalog"): CatalogError {
  const message = "Tabular with the same name already exists in the namespace";
  return new CatalogError(409, "AlreadyExistsException", message, [detail]);
}

export async function findTabular(
  client: Queryable,
  kind: TabularKind,
  warehouseId: string,
  namespace: readonly string[],
  name: string,
  lock = false,
): Promise<Tabular | undefined> {
  const { rows } = await client.query<Tabular>({
    name: lock ? "lock tabular by name" : "tabular by name",
    text: `SELECT ${columns} FROM tabular JOIN namespace USING (namespace_id)
      WHERE namespace.warehouse_id = $1 AND name_key = $2 AND lower(tabular.name) = lower($3)
        AND kind = $4 AND deleted_at IS NULL ${lock ? "FOR UPDATE OF tabular" : ""}`,
    values: [warehouseId, namespaceKey(namespace), name, kind],
  });
  return rows[0];
}

/** Throws 404 NoSuchTableException (or NoSuchViewException), also when the namespace is missing. */
export async function getTabular(...wanted: Parameters<typeof findTabular>): Promise<Tabular> {
  const found = await findTabular(...wanted);
  if (found === undefined) throw noSuchTabular(wanted[1]);
  return found;
}

export async function listTabulars(
  client: Queryable,
  kind: TabularKind,
  namespaceId: string,
  page: Page,
): Promise<{ id: string; name: string; createdMicros: string }[]> {
  const { rows } = await client.query<{ id: string; name: string; createdMicros: string }>(
    `SELECT tabular_id AS id, name, (extract(epoch FROM created_at) * 1000000)::bigint AS "createdMicros" FROM tabular
     WHERE namespace_id = $1 AND kind = $2 AND deleted_at IS NULL
       AND (created_at, tabular_id) > (to_timestamp(0) + $3::bigint * interval '1 microsecond', $4::uuid)
     ORDER BY created_at, tabular_id LIMIT $5`,
    [namespaceId, kind, page.afterMicros, page.afterId || "00000000-0000-0000-0000-000000000000", page.size ?? null],
  );
  return rows;
}

/**
 * Adds a table or view, in one statement. Locations never nest: not even with one that is only soft-deleted. Throws 409
 * AlreadyExistsException for a name or id that is taken and 409 LocationAlreadyTaken.
 */
export async function insertTabular(client: Queryable, tabular: NewTabular): Promise<void> {
  const { warehouseId, id, namespaceId, kind, name, location, metadataLocation, metadata } = tabular;
  const row = [warehouseId, id, namespaceId, kind, name, location, metadataLocation, metadata];
  try {
    const { rowCount } = await client.query({
      name: "insert tabular",
      // "0" is the character after "/": the range holds what lies below the location, and an index finds it.
      text: `INSERT INTO tabular (warehouse_id, tabular_id, namespace_id, kind, name, location, metadata_location, metadata)
        SELECT $1, $2, $3, $4, $5, $6, $7, $8 WHERE NOT EXISTS (
          SELECT 1 FROM tabular WHERE warehouse_id = $1 AND tabular_id <> $2
            AND (location = ANY($9) OR (location > $10 AND location < $11)))`,
      values: [...row, selfAndAncestors(location), `${location}/`, `${location}0`],
    });
    if (rowCount === 1) return;
  } catch (error) {
    if (violatedConstraint(error) === undefined) throw error;
    throw tabularExists();
  }
  const { rowCount } = await client.query(
    `SELECT 1 FROM tabular WHERE warehouse_id = $1
       AND (tabular_id = $2 OR (namespace_id = $3 AND lower(name) = lower($4) AND deleted_at IS NULL))`,
    [warehouseId, id, namespaceId, name],
  );
  if (rowCount !== 0) throw tabularExists();
  throw new CatalogError(
    409,
    "LocationAlreadyTaken",
    `Location '${location}' is already taken by another table or view.`,
    ["Error creating tabular in catalog"],
  );
}

/** What it was; undefined when it was not there. */
export async function deleteTabular(
  client: Queryable,
  warehouseId: string,
  id: string,
): Promise<TabularKind | undefined> {
  const { rows } = await client.query<{ kind: TabularKind }>(
    "DELETE FROM tabular WHERE warehouse_id = $1 AND tabular_id = $2 RETURNING kind",
    [warehouseId, id],
  );
  return rows[0]?.kind;
}

export async function softDeleteTabular(client: Queryable, warehouseId: string, id: string): Promise<void> {
  await client.query("UPDATE tabular SET deleted_at = clock_timestamp() WHERE warehouse_id = $1 AND tabular_id = $2", [
    warehouseId,
    id,
  ]);
}

/** Throws 409 AlreadyExistsException when the new name is taken. */
export async function renameTabular(
  client: Queryable,
  warehouseId: string,
  id: string,
  namespaceId: string,
  name: string,
): Promise<void> {
  try {
    await client.query(
      `UPDATE tabular SET namespace_id = $3, name = $4, updated_at = clock_timestamp()
       WHERE warehouse_id = $1 AND tabular_id = $2`,
      [warehouseId, id, namespaceId, name],
    );
  } catch (error) {
    if (violatedConstraint(error) === undefined) throw error;
    throw tabularExists("Error renaming tabular in catalog");
  }
}

/** Points a table at new metadata. The row must have been locked. */
export async function setTabularMetadata(
  client: Queryable,
  warehouseId: string,
  id: string,
  metadata: { location: string; metadataLocation: string; metadata: string },
): Promise<void> {
  await client.query(
    `UPDATE tabular SET location = $3, metadata_location = $4, metadata = $5, updated_at = clock_timestamp()
     WHERE warehouse_id = $1 AND tabular_id = $2`,
    [warehouseId, id, metadata.location, metadata.metadataLocation, metadata.metadata],
  );
}
