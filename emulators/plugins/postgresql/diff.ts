import { unknown, type DiffResponse, type Properties, type PropertyDiff } from "../protocol.ts";
import type { Resource } from "./resource.ts";
import { isCollection, isEmpty, isNothing, type Property, type Schema } from "./schema.ts";

/** What an update would change: every property under its name, and under each what of it. */
export function diffOf(resource: Resource, olds: Properties, news: Properties): DiffResponse {
  const { schema, deleteBeforeReplace = false } = resource;
  const changed = changesOf(schema, olds, news);
  const replaces = [...changed.keys()].filter((name) => schema[name]!.replaces === true);
  const stables = Object.keys(schema)
    .filter((name) => schema[name]!.replaces === true && !replaces.includes(name))
    .sort();
  const detailedDiff = Object.fromEntries(
    [...changed].flatMap(([name, details]) =>
      Object.entries(details).map(([path, detail]) => [path, replaces.includes(name) ? replacing(detail) : detail]),
    ),
  );
  // There cannot be two of one name.
  const isNamed = schema["name"] !== undefined && !((news["__defaults"] ?? []) as string[]).includes("name");
  return {
    ...(replaces.length > 0 && { replaces }),
    ...(stables.length > 0 && { stables }),
    ...(replaces.length > 0 && (deleteBeforeReplace || isNamed) && { deleteBeforeReplace: true }),
    ...(changed.size > 0
      ? { changes: "DIFF_SOME", diffs: [...changed.keys()], detailedDiff }
      : { changes: "DIFF_NONE" }),
    hasDetailedDiff: true,
  };
}

/** The properties whose values are not those of the state any more, in the order of the alphabet. */
export function changesOf(
  schema: Schema,
  olds: Properties,
  news: Properties,
): Map<string, Record<string, PropertyDiff>> {
  const changes = Object.keys(schema)
    .sort()
    .map((name) => [name, changeOf(name, schema[name]!, olds[name], news[name])] as const)
    .filter(([, details]) => Object.keys(details).length > 0);
  return new Map(changes);
}

function changeOf(name: string, property: Property, old: unknown, given: unknown): Record<string, PropertyDiff> {
  if (property.type === "unsupported" || property.writeOnly === true) return {};
  const value = given ?? property.default;
  if (value === unknown) return { [name]: isNothing(old) ? {} : { kind: "UPDATE" } };
  if (value === undefined && property.computed === true) return {};
  if (isNothing(value) && isNothing(old)) return {};
  if (value === undefined || isEmpty(value)) return { [name]: { kind: "DELETE" } };
  if (old === undefined || old === null || isEmpty(old)) return { [name]: {} };
  if (!isCollection(property)) return value === old ? {} : { [name]: { kind: "UPDATE" } };
  return itemChanges(name, property, old as string[], value as string[]);
}

function itemChanges(name: string, { type }: Property, old: string[], value: string[]): Record<string, PropertyDiff> {
  const isIn = (items: string[], item: string, index: number): boolean =>
    type === "set" ? items.includes(item) : items[index] === item;
  const indicesIn = (items: string[], others: string[]): number[] =>
    items.flatMap((item, index) => (isIn(others, item, index) ? [] : [index]));
  const [removed, added] = [indicesIn(old, value), indicesIn(value, old)];
  const kindOf = (index: number): PropertyDiff => {
    if (!removed.includes(index)) return {};
    return { kind: added.includes(index) ? "UPDATE" : "DELETE" };
  };
  const indices = [...new Set([...removed, ...added])].sort((a, b) => a - b);
  return Object.fromEntries(indices.map((index) => [`${name}[${index}]`, kindOf(index)]));
}

function replacing({ kind }: PropertyDiff): PropertyDiff {
  if (kind === "UPDATE") return { kind: "UPDATE_REPLACE" };
  return { kind: kind === "DELETE" ? "DELETE_REPLACE" : "ADD_REPLACE" };
}
