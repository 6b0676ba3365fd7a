import type { CommandArgs } from "@pulumi/command/local/command.js";
import type { RunArgs } from "@pulumi/command/local/run.js";
import type { CommandArgs as RemoteCommandArgs } from "@pulumi/command/remote/command.js";
import type { CopyToRemoteArgs } from "@pulumi/command/remote/copyToRemote.js";
import { reveal, unknown, type CheckFailure, type Properties } from "../protocol.ts";

/** `unsupported`: the SDK has it, this stand-in does not. */
export type Type = "string" | "bool" | "number" | "strings" | "texts by name" | "anything" | "unsupported";

const everywhere = {
  addPreviousOutputInEnv: "bool",
  environment: "texts by name",
  logging: "string",
  stdin: "string",
} as const satisfies Record<string, Type>;

const here = {
  ...everywhere,
  archivePaths: "unsupported",
  assetPaths: "unsupported",
  dir: "string",
  interpreter: "strings",
} as const satisfies Record<string, Type>;

const texts = { create: "string", delete: "string", triggers: "anything", update: "string" } as const;

export const commandInputs = { ...here, ...texts } as const satisfies Record<keyof CommandArgs, Type>;
export const runInputs = { ...here, command: "string" } as const satisfies Record<keyof RunArgs, Type>;
export const remoteInputs = { ...everywhere, ...texts, connection: "anything" } as const satisfies Record<
  keyof RemoteCommandArgs,
  Type
>;
export const copyInputs = {
  connection: "anything",
  remotePath: "string",
  source: "anything",
  triggers: "anything",
} as const satisfies Record<keyof CopyToRemoteArgs, Type>;

/** What is told of a command, without secrets' marks. */
export interface CommandInputs {
  create?: string;
  update?: string;
  delete?: string;
  /** @default true */
  addPreviousOutputInEnv?: boolean;
  dir?: string;
  environment?: Record<string, string>;
  /** @default ["/bin/sh", "-c"] */
  interpreter?: string[];
  /** One that is not known is taken for `stdoutAndStderr`. */
  logging?: string;
  stdin?: string;
}

/**
 * What is wrong with inputs, in the real plugin's words; what is not known yet is taken as right.
 *
 * @param of how the plugin calls them, e.g. `local.CommandInputs`
 */
export function failuresOf(types: Record<string, Type>, inputs: Properties, of: string): CheckFailure[] {
  return Object.entries(reveal(inputs) as Properties).flatMap(([name, value]) => {
    const type = types[name];
    if (type === undefined) return [{ property: name, reason: `Unrecognized field '${name}' on '${of}'` }];
    return valueFailures(type, value, name, of);
  });
}

function valueFailures(type: Type, value: unknown, path: string, of: string): CheckFailure[] {
  if (value === unknown || type === "anything") return [];
  if (type === "unsupported") {
    return [{ property: path, reason: `The stand-in for Pulumi's command plugin does not take '${path}' on '${of}'` }];
  }
  if (type === "strings" && Array.isArray(value)) {
    return value.flatMap((item, index) => valueFailures("string", item, `${path}[${index}]`, of));
  }
  if (type === "texts by name" && goTypeOf(value) === "map") {
    return Object.entries(value as Properties).flatMap(([name, item]) =>
      valueFailures("string", item, `${path}[${name}] value`, of),
    );
  }
  const wanted = { string: "string", bool: "bool", number: "float64", strings: "array", "texts by name": "map" }[type];
  const got = goTypeOf(value);
  if (got === wanted) return [];
  return [{ property: path, reason: `Field '${path}' on '${of}' must be a '${wanted}'; got '${got}' instead` }];
}

function goTypeOf(value: unknown): string {
  if (Array.isArray(value)) return "array";
  return { number: "float64", boolean: "bool", string: "string" }[typeof value as string] ?? "map";
}
