import { secret, unknown, type CheckFailure, type Properties } from "../protocol.ts";
import { quoteGo } from "../goText.ts";
import { RawJson } from "./goText.ts";

export type Type = "string" | "number" | "boolean" | "json" | { list: Type } | { object: Schema } | "unsupported";

/** An input of a resource, or of an object in one. */
export interface Property {
  /** `json`: a text that is sent as the JSON it holds. `unsupported`: the SDK has it, this stand-in does not. */
  type: Type;
  required?: boolean;
  /** What is taken when the program says nothing. */
  default?: unknown;
  /** Whether the API decides when the program says nothing. */
  computed?: boolean;
  /** Whether another value makes another resource. */
  replaces?: boolean;
  oneOf?: readonly string[];
  ignoreCase?: boolean;
  secret?: boolean;
  /** Its name in the API, when that is not the same in snake case. */
  wire?: string;
}

export type Schema = Record<string, Property>;

/** What is wrong with the inputs of a resource; what is not known yet is taken as right. */
export function failuresOf(schema: Schema, inputs: Properties, resource: string): CheckFailure[] {
  return objectFailures(schema, inputs, "", resource);
}

function objectFailures(schema: Schema, value: Properties, path: string, resource: string): CheckFailure[] {
  const at = (name: string): string => (path === "" ? name : `${path}.${name}`);
  const fail = (name: string, reason: string): CheckFailure => ({
    reason: `${reason} Examine values at '${resource}.${at(name)}'.`,
  });
  const unknownNames = Object.keys(value).filter((name) => !Object.hasOwn(schema, name));
  const missing = Object.keys(schema).filter((name) => schema[name]?.required === true && value[name] === undefined);
  return [
    ...unknownNames.map((name) => fail(name, `Unsupported Attribute. There is no attribute ${at(name)}.`)),
    ...missing.map((name) => fail(name, `Missing required property. The attribute ${at(name)} is required.`)),
    ...Object.entries(schema).flatMap(([name, property]) =>
      value[name] === undefined ? [] : valueFailures(property, value[name], at(name), resource),
    ),
  ];
}

function valueFailures(property: Property, value: unknown, path: string, resource: string): CheckFailure[] {
  const { type, oneOf } = property;
  const fail = (reason: string): CheckFailure[] => [{ reason: `${reason} Examine values at '${resource}.${path}'.` }];
  if (value === unknown) return [];
  if (type === "unsupported") return fail(`The stand-in for Cloudflare's plugin does not take ${path}.`);
  if (typeof type === "object" && "list" in type) {
    if (!Array.isArray(value)) return fail(`Incorrect Type. ${path} must be a list.`);
    return value.flatMap((item, index) => valueFailures({ type: type.list }, item, `${path}[${index}]`, resource));
  }
  if (typeof type === "object") {
    if (typeof value !== "object" || value === null) return fail(`Incorrect Type. ${path} must be an object.`);
    return objectFailures(type.object, value as Properties, path, resource);
  }
  const expected = type === "json" ? "string" : type;
  if (typeof value !== expected) return fail(`Incorrect Type. ${path} must be a ${expected}.`);
  const given = property.ignoreCase === true ? String(value).toLowerCase() : value;
  if (oneOf === undefined || oneOf.includes(given as string)) return [];
  const choices = oneOf.map(quoteGo).join(" ");
  return fail(
    `Invalid Attribute Value Match. Attribute ${path} value must be one of: [${choices}], got: ${quoteGo(value as string)}.`,
  );
}

/** The value with those of its parts marked that are secrets. */
export function markSecrets(schema: Schema, value: Properties): Properties {
  const marked = Object.entries(value).map(([name, inner]) => {
    const property = schema[name];
    return [name, property === undefined || inner === unknown ? inner : markValue(property, inner)];
  });
  return Object.fromEntries(marked) as Properties;
}

function markValue({ type, secret: isSecret = false }: Property, value: unknown): unknown {
  if (isSecret) return secret(value);
  if (typeof type !== "object") return value;
  if ("object" in type) return markSecrets(type.object, value as Properties);
  return (value as unknown[]).map((item) => markValue({ type: type.list }, item));
}

/** The names of the inputs whose values are not those of the state any more, in the order of the alphabet. */
export function changedIn(schema: Schema, news: Properties, olds: Properties): string[] {
  const isChanged = ([name, property]: [string, Property]): boolean => {
    const given = news[name] ?? property.default;
    const isLeftAlone = property.computed === true || property.type === "unsupported";
    if (given === undefined) return !isLeftAlone && olds[name] !== undefined;
    return !isSame(property, given, olds[name]);
  };
  return Object.entries(schema)
    .filter(isChanged)
    .map(([name]) => name)
    .sort();
}

function isSame({ type, ignoreCase = false }: Property, given: unknown, old: unknown): boolean {
  if (typeof type === "object" && Array.isArray(given)) {
    const item = "list" in type ? type.list : type;
    return (
      Array.isArray(old) &&
      old.length === given.length &&
      given.every((each, index) => isSame({ type: item }, each, old[index]))
    );
  }
  if (typeof type === "object" && "object" in type && typeof given === "object") {
    if (typeof old !== "object" || old === null) return false;
    return changedIn(type.object, given as Properties, old as Properties).length === 0;
  }
  if (ignoreCase) return String(given).toLowerCase() === String(old).toLowerCase();
  return given === old;
}

/** What the schema knows of inputs, as the API names it. */
export function toWire(schema: Schema, value: Properties): Properties {
  const known = Object.entries(value).flatMap(([name, inner]) => {
    const property = schema[name];
    return property === undefined ? [] : [[wireName(schema, name), wireValue(property.type, inner)]];
  });
  return Object.fromEntries(known) as Properties;
}

function wireValue(type: Type, value: unknown): unknown {
  if (type === "json") return new RawJson(value as string);
  if (typeof type !== "object") return value;
  if ("object" in type) return toWire(type.object, value as Properties);
  return (value as unknown[]).map((item) => wireValue(type.list, item));
}

/** What the schema knows of an answer of the API; what is null is left out. */
export function fromWire(schema: Schema, answer: Properties): Properties {
  const known = Object.entries(schema).flatMap(([name, { type }]) => {
    const value = answer[wireName(schema, name)];
    return value === undefined || value === null ? [] : [[name, fromWireValue(type, value)]];
  });
  return Object.fromEntries(known) as Properties;
}

function fromWireValue(type: Type, value: unknown): unknown {
  if (typeof type !== "object") return value;
  if ("object" in type) return fromWire(type.object, value as Properties);
  return (value as unknown[]).map((item) => fromWireValue(type.list, item));
}

function wireName(schema: Schema, name: string): string {
  return schema[name]?.wire ?? name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
