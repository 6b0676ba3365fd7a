import { isObject, type Json, type JsonObject, stringifyJson } from "../http/json.ts";
import { canonicalSchema, objects } from "./metadata.ts";

/** Calls `visit` for every field of a type, at any depth; element, key and value of lists and maps included. */
function walk(type: Json | undefined, visit: (id: number, name: string) => void, prefix = ""): void {
  if (!isObject(type)) return;
  if (type["type"] === "struct")
    for (const field of objects(type["fields"])) {
      const name = prefix + (field["name"] as string);
      visit(Number(field["id"]), name);
      walk(field["type"], visit, `${name}.`);
    }
  for (const part of ["element", "key", "value"])
    if (type[`${part}-id`] !== undefined) {
      visit(Number(type[`${part}-id`]), `${prefix}${part}`);
      walk(type[part], visit, `${prefix}${part}.`);
    }
}

export function highestFieldId(schema: JsonObject): number {
  let highest = 0;
  walk({ ...schema, type: "struct" }, (id) => (highest = Math.max(highest, id)));
  return highest;
}

/**
 * Gives every field a new id, all fields of one level before those inside them, and returns which old id became which.
 */
export function reassignFieldIds(schema: JsonObject): { schema: JsonObject; renumbered: Map<number, number> } {
  const renumbered = new Map<number, number>();
  let last = 0;
  const next = (old: Json | undefined): number => {
    last += 1;
    renumbered.set(Number(old), last);
    return last;
  };
  const assign = (type: Json): Json => {
    if (!isObject(type)) return type;
    if (type["type"] === "struct") {
      const fields = objects(type["fields"]).map((field): JsonObject => ({ ...field, id: next(field["id"]) }));
      return { ...type, fields: fields.map((field) => ({ ...field, type: assign(field["type"]!) })) };
    }
    const parts = ["element", "key", "value"].filter((part) => type[`${part}-id`] !== undefined);
    const ids = Object.fromEntries(parts.map((part) => [`${part}-id`, next(type[`${part}-id`])]));
    return { ...type, ...ids, ...Object.fromEntries(parts.map((part) => [part, assign(type[part]!)])) };
  };
  const assigned = assign({ ...schema, type: "struct" }) as JsonObject;
  const identifiers = Array.isArray(schema["identifier-field-ids"]) ? schema["identifier-field-ids"] : [];
  return {
    schema: canonicalSchema({
      ...assigned,
      "identifier-field-ids": identifiers.map((id) => renumbered.get(Number(id)) ?? id),
    }),
    renumbered,
  };
}

/** True when two schemas differ at most in their number. */
export function sameSchema(one: JsonObject, other: JsonObject): boolean {
  const comparable = (schema: JsonObject): string =>
    stringifyJson(sortKeys({ ...canonicalSchema(schema), "schema-id": 0 }));
  return comparable(one) === comparable(other);
}

/** The same value with the keys of all objects in order, so that its text can be compared. */
export function sortKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .toSorted()
      .map((key) => [key, sortKeys(value[key]!)]),
  );
}
