import { secret, unknown, type Properties } from "../protocol.ts";
import type { Plan } from "./resource.ts";

/** An input of a resource. Every input is an output as well. */
export interface Property {
  /** `set`: a list whose order is of no matter. `unsupported`: the SDK has it, this stand-in does not. */
  type: "string" | "number" | "boolean" | "list" | "set" | "unsupported";
  required?: boolean;
  /** What is taken when the program says nothing. */
  default?: unknown;
  /** Whether the server decides when the program says nothing. */
  computed?: boolean;
  /** Whether another value makes another resource. */
  replaces?: boolean;
  secret?: boolean;
  /** Sent to the server and kept nowhere. */
  writeOnly?: boolean;
  /** Whether a program that says nothing gets the resource's name with seven random digits. */
  autonamed?: boolean;
  /** What the real plugin takes. */
  oneOf?: readonly string[];
  /** What of that this stand-in does, when not all. */
  done?: readonly string[];
  atLeast?: number;
}

export type Schema = Record<string, Property>;

/** What stands for nothing: as Terraform sees it, a text that is empty is one that is not there. */
export function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === "" || value === 0 || value === false || isEmpty(value);
}

export function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

export function isCollection({ type }: Property): boolean {
  return type === "list" || type === "set";
}

/** @param state what is kept of what the server decided; not yet known without one */
export function planOf(schema: Schema, news: Properties, state?: Properties): Plan {
  const planned = Object.entries(schema).map(([name, property]) => {
    const kept = property.computed === true ? (state === undefined ? unknown : state[name]) : undefined;
    return [name, news[name] ?? property.default ?? kept ?? null];
  });
  return Object.fromEntries(planned) as Plan;
}

/** A plan with null for what the server decides. */
export function decided(plan: Plan): Plan {
  return Object.fromEntries(Object.entries(plan).map(([name, value]) => [name, value === unknown ? null : value]));
}

/** Outputs as they are stored: sets in the order of the alphabet, secrets marked, nothing of what is written only. */
export function stored(schema: Schema, outputs: Properties): Properties {
  const values = Object.entries(outputs).map(([name, value]) => {
    const property = schema[name];
    if (property === undefined) return [name, value];
    const kept = property.writeOnly === true ? null : value;
    const ordered = property.type === "set" && Array.isArray(kept) ? [...(kept as string[])].sort() : kept;
    return [name, property.secret === true ? secret(ordered) : ordered];
  });
  return Object.fromEntries(values) as Properties;
}

export function markSecrets(schema: Schema, inputs: Properties): Properties {
  const marked = Object.entries(inputs).map(([name, value]) => [
    name,
    schema[name]?.secret === true && value !== unknown ? secret(value) : value,
  ]);
  return Object.fromEntries(marked) as Properties;
}

/** The inputs of a resource after a refresh: those that the program had given, with what the server has now. */
export function refreshedInputs(schema: Schema, inputs: Properties, outputs: Properties): Properties {
  const refreshed = Object.entries(inputs)
    .filter(([name]) => Object.hasOwn(schema, name))
    .map(([name, input]) => {
      if (schema[name]!.writeOnly === true) return [name, input];
      const output = outputs[name];
      // Of a list, no more than the program had given.
      return [name, Array.isArray(input) && Array.isArray(output) ? output.slice(0, input.length) : output];
    });
  const found = Object.fromEntries(refreshed) as Properties;
  const defaults = ((inputs["__defaults"] ?? []) as string[]).filter((name) => found[name] === inputs[name]);
  return { ...(defaults.length > 0 && { __defaults: defaults }), ...found };
}

/** The inputs of a resource that is imported: what is not the default. */
export function importedInputs(schema: Schema, outputs: Properties): Properties {
  const inputs: Properties = { __defaults: [] };
  for (const [name, property] of Object.entries(schema)) {
    if (property.writeOnly === true) continue;
    const value = outputs[name];
    if (property.default === undefined ? !isNothing(value) : value !== property.default) inputs[name] = value;
  }
  return inputs;
}
