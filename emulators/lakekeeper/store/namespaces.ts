import { CatalogError } from "../http/errors.ts";
import { uuid7 } from "../ids.ts";
import { type Queryable, violatedConstraint } from "./database.ts";
import type { Page } from "../http/paging.ts";

export interface Namespace {
  readonly id: string;
  readonly name: readonly string[];
  readonly properties: Record<string, string>;
  readonly protected: boolean;
  /** Microseconds since 1970, for page tokens. */
  readonly createdMicros: string;
}

const columns = `namespace_id AS id, name, properties, protected, (extract(epoch FROM created_at) * 1000000)::bigint AS "createdMicros"`;
const separator = "\u001f";

/** Names are compared without case. */
export function namespaceKey(name: readonly string[]): string {
  return name.join(separator).toLowerCase();
}

export function noSuchNamespace(warehouseId: string, name: readonly string[]): CatalogError {
  const message = `Namespace with name '${name.join(".")}' does not exist in warehouse '${warehouseId}'`;
  return new CatalogError(404, "NoSuchNamespaceException", message, ["Namespace not found or access denied"]);
}

/** Throws 404 NoSuchNamespaceException. */
export async function getNamespace(
  client: Queryable,
  warehouseId: string,
  name: readonly string[],
): Promise<Namespace> {
  const { rows } = await client.query<Namespace>({
    name: "namespace by name",
    text: `SELECT ${columns} FROM namespace WHERE warehouse_id = $1 AND name_key = $2`,
    values: [warehouseId, namespaceKey(name)],
  });
  if (rows[0] === undefined) throw noSuchNamespace(warehouseId, name);
  return rows[0];
}

/** The children of a namespace, or the top level, oldest first. */
export async function listNamespaces(
  client: Queryable,
  warehouseId: string,
  parent: readonly string[],
  page: Page,
): Promise<Namespace[]> {
  const { rows } = await client.query<Namespace>(
    `SELECT ${columns} FROM namespace
     WHERE warehouse_id = $1 AND cardinality(name) = $2 AND starts_with(name_key, $3)
       AND (created_at, namespace_id) > (to_timestamp(0) + $4::bigint * interval '1 microsecond', $5::uuid)
     ORDER BY created_at, namespace_id LIMIT $6`,
    [
      warehouseId,
      parent.length + 1,
      parent.length === 0 ? "" : namespaceKey(parent) + separator,
      page.afterMicros,
      page.afterId || "00000000-0000-0000-0000-000000000000",
      page.size ?? null,
    ],
  );
  return rows;
}

/** Throws 409 AlreadyExistsException. */
export async function insertNamespace(
  client: Queryable,
  warehouseId: string,
  name: readonly string[],
  properties: Record<string, string>,
): Promise<Namespace> {
  try {
    const { rows } = await client.query<Namespace>(
      `INSERT INTO namespace (namespace_id, warehouse_id, name, name_key, properties) VALUES ($1, $2, $3, $4, $5)
       RETURNING ${columns}`,
      [uuid7(), warehouseId, name, namespaceKey(name), properties],
    );
    return rows[0]!;
  } catch (error) {
    if (violatedConstraint(error) !== "namespace_name") throw error;
    const message = `Namespace name '${name.join(".")}' already exist in warehouse '${warehouseId}'`;
    throw new CatalogError(409, "AlreadyExistsException", message, ["Error creating Namespace in catalog"]);
  }
}

/** In one statement: of two changes at once neither is lost. */
export async function changeNamespaceProperties(
  client: Queryable,
  id: string,
  removals: readonly string[],
  updates: Record<string, string>,
): Promise<void> {
  await client.query(
    `UPDATE namespace SET properties = (properties - $2::text[]) || $3::jsonb, updated_at = clock_timestamp()
     WHERE namespace_id = $1`,
    [id, removals, updates],
  );
}

/** What lies in a namespace and in those below it. */
export interface NamespaceContent {
  readonly tabulars: number;
  readonly softDeleted: number;
  readonly children: number;
}

export async function namespaceContent(
  client: Queryable,
  warehouseId: string,
  name: readonly string[],
): Promise<NamespaceContent> {
  const { rows } = await client.query<NamespaceContent>(
    `SELECT count(t) FILTER (WHERE t.deleted_at IS NULL)::int AS tabulars,
            count(t) FILTER (WHERE t.deleted_at IS NOT NULL)::int AS "softDeleted",
            (count(DISTINCT n.namespace_id) - 1)::int AS children
     FROM namespace n LEFT JOIN tabular t USING (namespace_id)
     WHERE n.warehouse_id = $1 AND (n.name_key = $2 OR starts_with(n.name_key, $2 || $3))`,
    [warehouseId, namespaceKey(name), separator],
  );
  return rows[0]!;
}

/** Ids of a namespace and of all below it. */
export async function namespaceTree(
  client: Queryable,
  warehouseId: string,
  name: readonly string[],
): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    `SELECT namespace_id AS id FROM namespace
     WHERE warehouse_id = $1 AND (name_key = $2 OR starts_with(name_key, $2 || $3))`,
    [warehouseId, namespaceKey(name), separator],
  );
  return rows.map((row) => row.id);
}

export async function deleteNamespaces(client: Queryable, ids: readonly string[]): Promise<void> {
  await client.query("DELETE FROM namespace WHERE namespace_id = ANY($1)", [ids]);
}
