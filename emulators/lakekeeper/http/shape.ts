import { isUuid } from "../ids.ts";
import { isObject, type Json, type JsonObject } from "./json.ts";

export type Path = readonly (string | number)[];

/** Reads a JSON value as T or throws ShapeError. The wording is that of Rust's serde, because clients get to see it. */
export type Shape<T> = (value: Json, path: Path) => T;
export type Shaped<S> = S extends Shape<infer T> ? T : never;

export class ShapeError extends Error {
  readonly path: Path;

  constructor(path: Path, message: string) {
    super(message);
    this.path = path;
  }
}

/** How a field reads when it is more than a shape under one name: other spellings, and what stands in when it is absent. */
interface FieldRule<T, D> {
  readonly shape: Shape<T>;
  readonly aliases: readonly string[];
  /** Absent for a required field. */
  readonly otherwise?: { readonly value: D };
}
type Field<T> = Shape<T> | FieldRule<T, unknown>;
type FieldValue<F> = F extends Shape<infer T> ? T : F extends FieldRule<infer T, infer D> ? T | D : never;

function describe(value: Json): string {
  if (value === null) return "null";
  if (typeof value === "boolean") return `boolean \`${value}\``;
  if (typeof value === "string") return `string ${JSON.stringify(value)}`;
  if (typeof value === "bigint") return `integer \`${value}\``;
  if (typeof value === "number") return `${Number.isInteger(value) ? "integer" : "floating point"} \`${value}\``;
  return Array.isArray(value) ? "sequence" : "map";
}

function mismatch(value: Json, path: Path, expected: string): never {
  throw new ShapeError(path, `invalid type: ${describe(value)}, expected ${expected}`);
}

export const string: Shape<string> = (value, path) =>
  typeof value === "string" ? value : mismatch(value, path, "a string");

/** In lower case. */
export const uuid: Shape<string> = (value, path) => {
  const text = string(value, path);
  if (!isUuid(text)) throw new ShapeError(path, "UUID parsing failed");
  return text.toLowerCase();
};

export const boolean: Shape<boolean> = (value, path) =>
  typeof value === "boolean" ? value : mismatch(value, path, "a boolean");

function integer(kind: string, minimum: number): Shape<number> {
  return (value, path) => {
    if (typeof value !== "number" || !Number.isInteger(value)) return mismatch(value, path, kind);
    if (value < minimum) throw new ShapeError(path, `invalid value: ${describe(value)}, expected ${kind}`);
    return value;
  };
}
export const u64 = integer("u64", 0);
export const i64 = integer("i64", Number.MIN_SAFE_INTEGER);

/** Anything at all; the handler looks at it itself. */
export const anything: Shape<Json> = (value) => value;

export const object: Shape<JsonObject> = (value, path) => (isObject(value) ? value : mismatch(value, path, "a map"));

export function list<T>(item: Shape<T>): Shape<T[]> {
  return (value, path) =>
    Array.isArray(value)
      ? value.map((entry, index) => item(entry, [...path, index]))
      : mismatch(value, path, "a sequence");
}

export function mapOf<T>(item: Shape<T>): Shape<Record<string, T>> {
  return (value, path) => {
    if (!isObject(value)) return mismatch(value, path, "a map");
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, item(entry, [...path, key])]));
  };
}

export function nullable<T>(shape: Shape<T>): Shape<T | null> {
  return (value, path) => (value === null ? null : shape(value, path));
}

export function optional<T, D>(shape: Shape<T>, otherwise: D): FieldRule<T, D> {
  return { shape, aliases: [], otherwise: { value: otherwise } };
}

/** A field that may be absent or null; both read as null. */
export function maybe<T>(shape: Shape<T>, ...aliases: string[]): FieldRule<T | null, null> {
  return { shape: nullable(shape), aliases, otherwise: { value: null } };
}

/** A required field that older clients spell differently. */
export function aliased<T>(shape: Shape<T>, ...aliases: string[]): FieldRule<T, never> {
  return { shape, aliases };
}

export function oneOf<const T extends string>(...names: readonly T[]): Shape<T> {
  const known = names.map((name) => `\`${name}\``);
  const expected =
    known.length === 2 ? known.join(" or ") : known.length === 1 ? known[0]! : `one of ${known.join(", ")}`;
  return (value, path) => {
    const text = string(value, path);
    const found = names.find((name) => name === text);
    if (found === undefined) throw new ShapeError(path, `unknown variant \`${text}\`, expected ${expected}`);
    return found;
  };
}

/** An object with known fields; further ones are ignored, as the real server ignores them. */
export function struct<const F extends Record<string, Field<unknown>>>(
  name: string,
  fields: F,
): Shape<{ [K in keyof F]: FieldValue<F[K]> }> {
  const rules = Object.entries(fields).map(([key, field]): [string, FieldRule<unknown, unknown>] => [
    key,
    typeof field === "function" ? { shape: field, aliases: [] } : field,
  ]);
  return (value, path) => {
    if (!isObject(value)) return mismatch(value, path, `struct ${name}`);
    const result: Record<string, unknown> = {};
    for (const [key, rule] of rules) {
      const present = [key, ...rule.aliases].find((spelling) => Object.hasOwn(value, spelling));
      if (present !== undefined) result[key] = rule.shape(value[present]!, [...path, present]);
      else if (rule.otherwise !== undefined) result[key] = rule.otherwise.value;
      else throw new ShapeError(path, `missing field \`${key}\``);
    }
    return result as { [K in keyof F]: FieldValue<F[K]> };
  };
}

/**
 * An object whose `tag` field says which shape the rest has. Serde buffers such an object, so an error inside it is
 * reported at the object and not at the field.
 */
export function tagged<const Tag extends string, const V extends Record<string, Shape<object>>>(
  tag: Tag,
  variants: V,
): Shape<{ [K in keyof V]: Shaped<V[K]> & Record<Tag, K> }[keyof V]> {
  const names = oneOf(...Object.keys(variants));
  return (value, path) => {
    if (!isObject(value)) return mismatch(value, path, "internally tagged enum");
    if (!Object.hasOwn(value, tag)) throw new ShapeError(path, `missing field \`${tag}\``);
    try {
      const name = names(value[tag]!, path);
      return { ...variants[name]!(value, path), [tag]: name } as never;
    } catch (error) {
      throw error instanceof ShapeError ? new ShapeError(path, error.message) : error;
    }
  };
}
