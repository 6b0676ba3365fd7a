import type { Call } from "../http/call.ts";
import { CatalogError, PlainTextError } from "../http/errors.ts";
import { isUuid } from "../ids.ts";
import type { Warehouse } from "../store/warehouses.ts";

const maxDepth = 5;

/** The warehouse a catalog path begins with. Throws 400 WarehouseIdIsNotUUID and 404 NoSuchWarehouseException. */
export function warehouseOf(call: Call): Promise<Warehouse> {
  const prefix = call.param("prefix");
  // The literal `{s}` is how Lakekeeper 0.13.3 words it.
  if (!isUuid(prefix))
    throw new CatalogError(400, "WarehouseIdIsNotUUID", "Provided WarehouseId is not a valid UUID. Got: {s}");
  return call.catalog.warehouses.active(prefix.toLowerCase());
}

/** The id of a warehouse in a management path. */
export function warehouseIdOf(call: Call): string {
  return idOf(call, "id", "warehouse_id");
}

/** An id in a management path; `name` is what the real server calls it. Throws 400 in plain text unless it is a UUID. */
export function idOf(call: Call, param: string, name: string): string {
  const id = call.param(param);
  if (!isUuid(id))
    throw new PlainTextError(400, `Invalid URL: Cannot parse \`${name}\` with value \`${id}\`: UUID parsing failed`);
  return id.toLowerCase();
}

/** The levels of a namespace in a path or query, which the unit separator joins. */
export function splitNamespace(text: string): string[] {
  const name = text.split("\u001f");
  checkNamespace(name);
  return name;
}

/** Throws 400 for names no namespace can have. */
export function checkNamespace(name: readonly string[]): void {
  const detail = [`Namespace: NamespaceIdent([${name.map((part) => JSON.stringify(part)).join(", ")}])`];
  if (name.length > maxDepth)
    throw new CatalogError(400, "NamespaceDepthExceeded", `Namespace exceeds maximum depth of ${maxDepth}`, detail);
  if (name.some((part) => part.includes(".")))
    throw new CatalogError(400, "NamespacePartContainsDot", "Namespace parts cannot contain '.'", detail);
  if (name.some((part) => part === ""))
    throw new CatalogError(400, "NamespacePartEmpty", "Namespace parts cannot be empty", detail);
}
