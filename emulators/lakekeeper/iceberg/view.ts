import { CatalogError } from "../http/errors.ts";
import { type Json, type JsonObject, stringifyJson } from "../http/json.ts";
import { i64, list, mapOf, maybe, object, type Shaped, string, struct, tagged } from "../http/shape.ts";
import { canonicalSchema, objects } from "./metadata.ts";
import { sameSchema, sortKeys } from "./schema.ts";

export const viewVersion = struct("ViewVersion", {
  "version-id": i64,
  "schema-id": i64,
  "timestamp-ms": i64,
  summary: mapOf(string),
  representations: list(object),
  "default-catalog": maybe(string),
  "default-namespace": list(string),
});

/** The updates of the Iceberg REST specification for views. */
export const viewUpdate = tagged("action", {
  "assign-uuid": struct("AssignUuid", { uuid: string }),
  "upgrade-format-version": struct("UpgradeFormatVersion", { "format-version": i64 }),
  "add-schema": struct("AddSchema", { schema: object, "last-column-id": maybe(i64) }),
  "set-location": struct("SetLocation", { location: string }),
  "set-properties": struct("SetProperties", { updates: mapOf(string) }),
  "remove-properties": struct("RemoveProperties", { removals: list(string) }),
  "add-view-version": struct("AddViewVersion", { "view-version": viewVersion }),
  "set-current-view-version": struct("SetCurrentViewVersion", { "view-version-id": i64 }),
});
export type ViewUpdate = Shaped<typeof viewUpdate>;

/** Updates name by this what was added last. */
const lastAdded = -1;
const historyProperty = "version.history.num-entries";
const usualHistory = 10;

function refuse(type: string, message: string): CatalogError {
  return new CatalogError(400, type, message);
}

/** A version as metadata has it, made at `now`. */
export function storedVersion(version: Shaped<typeof viewVersion>, now: number): JsonObject {
  const { "default-catalog": catalog, ...rest } = version;
  return { ...rest, "timestamp-ms": now, ...(catalog === null ? {} : { "default-catalog": catalog }) };
}

/** `item` under a number of its own, or the number of the equal one that is there already. */
function numbered(
  items: readonly JsonObject[],
  idKey: string,
  item: JsonObject,
  same: (other: JsonObject) => boolean,
): { id: number; items: JsonObject[] } {
  const equal = items.find(same);
  if (equal !== undefined) return { id: Number(equal[idKey]), items: [...items] };
  const id = Math.max(-1, ...items.map((other) => Number(other[idKey]))) + 1;
  return { id, items: [...items, { ...item, [idKey]: id }] };
}

function comparable(version: JsonObject): string {
  return stringifyJson(sortKeys({ ...version, "version-id": 0, "timestamp-ms": 0 }));
}

/** The current version and the newest others, as many as the view's properties say. */
function withinHistory(metadata: JsonObject): JsonObject {
  const versions = objects(metadata["versions"]);
  const wanted = Number((metadata["properties"] as JsonObject)[historyProperty] ?? usualHistory);
  const current = metadata["current-version-id"];
  const newest = versions
    .filter((version) => version["version-id"] !== current)
    .toSorted((one, other) => Number(other["version-id"]) - Number(one["version-id"]))
    .slice(0, Math.max(0, wanted - 1));
  return {
    ...metadata,
    versions: versions.filter((version) => version["version-id"] === current || newest.includes(version)),
  };
}

/** View metadata after `updates`. Throws 400 for one that contradicts the metadata. */
export function changeView(before: JsonObject, updates: readonly ViewUpdate[], now: number): JsonObject {
  let metadata = before;
  let addedSchema: number | undefined;
  let addedVersion: number | undefined;
  const set = (changes: Record<string, Json>): JsonObject => (metadata = { ...metadata, ...changes });
  const properties = (): JsonObject => metadata["properties"] as JsonObject;

  for (const update of updates)
    switch (update.action) {
      case "assign-uuid":
        throw refuse("AssignUuidNotSupported", "Assigning UUIDs is not supported");
      case "upgrade-format-version":
        break;
      case "set-location":
        set({ location: update.location.replace(/\/+$/, "") });
        break;
      case "set-properties":
        set({ properties: { ...properties(), ...update.updates } });
        break;
      case "remove-properties": {
        const kept = Object.entries(properties()).filter(([name]) => !update.removals.includes(name));
        set({ properties: Object.fromEntries(kept) });
        break;
      }
      case "add-schema": {
        const schema = canonicalSchema(update.schema);
        const same = (other: JsonObject): boolean => sameSchema(other, schema);
        const { id, items } = numbered(objects(metadata["schemas"]), "schema-id", schema, same);
        addedSchema = id;
        set({ schemas: items });
        break;
      }
      case "add-view-version": {
        const version = storedVersion(update["view-version"], now);
        const type = "AppendViewVersionError";
        if (version["schema-id"] === lastAdded) {
          if (addedSchema === undefined)
            throw refuse(type, "Error appending view version: Cannot set last added schema: no schema has been added");
          version["schema-id"] = addedSchema;
        } else if (!objects(metadata["schemas"]).some((schema) => schema["schema-id"] === version["schema-id"]))
          throw refuse(type, `Error appending view version: No schema with id ${update["view-version"]["schema-id"]}`);
        const same = (other: JsonObject): boolean => comparable(other) === comparable(version);
        const { id, items } = numbered(objects(metadata["versions"]), "version-id", version, same);
        addedVersion = id;
        set({ versions: items });
        break;
      }
      case "set-current-view-version": {
        const wanted = update["view-version-id"];
        const id = wanted === lastAdded ? addedVersion : wanted;
        if (id === undefined || !objects(metadata["versions"]).some((version) => version["version-id"] === id))
          throw refuse(
            "SetCurrentViewVersionError",
            `Error setting current view version: Cannot set current version to unknown version with id: ${wanted}`,
          );
        if (id === metadata["current-version-id"]) break;
        const entry = { "version-id": id, "timestamp-ms": now };
        set({ "current-version-id": id, "version-log": [...objects(metadata["version-log"]), entry] });
        break;
      }
    }
  return withinHistory(metadata);
}
