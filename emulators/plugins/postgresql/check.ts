import { randomBytes } from "node:crypto";
import { unknown, type CheckFailure, type CheckRequest, type Properties } from "../protocol.ts";
import { isNothing, type Property, type Schema } from "./schema.ts";

/** The inputs with their defaults, whose names are in `__defaults`. */
export function withDefaults(
  schema: Schema,
  { name, olds }: Pick<CheckRequest, "name" | "olds">,
  news: Properties,
): Properties {
  const inputs: Properties = { ...news };
  const defaults: string[] = [];
  for (const [key, property] of Object.entries(schema)) {
    if (inputs[key] !== undefined) continue;
    if (property.autonamed === true) {
      const wasAutonamed = ((olds["__defaults"] ?? []) as string[]).includes(key);
      inputs[key] = wasAutonamed ? olds[key] : `${name}-${randomBytes(4).toString("hex").slice(0, 7)}`;
    } else if (isNothing(property.default)) {
      continue;
    } else {
      inputs[key] = property.default;
    }
    defaults.push(key);
  }
  return { ...inputs, __defaults: defaults.sort() };
}

/** What is wrong with the inputs of a resource; what is not known yet is taken as right. */
export function failuresOf(schema: Schema, inputs: Properties, resource: string): CheckFailure[] {
  const fail = (name: string, reason: string): CheckFailure => ({
    reason: `${reason} Examine values at '${resource}.${name}'.`,
  });
  const strangers = Object.keys(inputs).filter((name) => !Object.hasOwn(schema, name) && name !== "__defaults");
  const missing = Object.keys(schema).filter((name) => schema[name]?.required === true && inputs[name] === undefined);
  return [
    ...strangers.map((name) => fail(name, `Invalid or unknown key. There is no property ${name}.`)),
    ...missing.map((name) =>
      fail(name, `Missing required argument. The argument "${name}" is required, but no definition was found.`),
    ),
    ...Object.entries(schema).flatMap(([name, property]) => {
      const wrong = inputs[name] === undefined ? undefined : valueFailure(name, property, inputs[name]);
      return wrong === undefined ? [] : [fail(name, wrong)];
    }),
  ];
}

function valueFailure(name: string, property: Property, value: unknown): string | undefined {
  const { type, oneOf, done, atLeast } = property;
  if (value === unknown || value === property.default) return undefined;
  if (type === "unsupported") return `The stand-in for PostgreSQL's plugin does not take ${name}.`;
  if (type === "list" || type === "set") {
    const areTexts = Array.isArray(value) && value.every((item) => typeof item === "string");
    return areTexts ? undefined : `Incorrect Type. ${name} must be a list of strings.`;
  }
  if (typeof value !== type) return `Incorrect Type. ${name} must be a ${type}.`;
  if (oneOf !== undefined && !oneOf.includes(value as string)) {
    const choices = oneOf.map((choice) => `"${choice}"`).join(" ");
    return `expected ${terraformName(name)} to be one of [${choices}], got ${String(value)}.`;
  }
  if (done !== undefined && !done.includes(value as string)) {
    return `The stand-in for PostgreSQL's plugin does not do ${String(value)}, only ${done.join(", ")}.`;
  }
  if (atLeast !== undefined && (value as number) < atLeast) {
    return `expected ${terraformName(name)} to be at least (${atLeast}), got ${String(value)}.`;
  }
  return undefined;
}

function terraformName(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
