import type { Properties } from "../protocol.ts";
import type { Schema } from "./schema.ts";
import type { Server } from "./server.ts";

/** The inputs with what the program left to the defaults and to the state; null for what nobody says. */
export type Plan = Properties;

/** One type of resource, as the real plugin keeps it. */
export interface Resource {
  schema: Schema;
  /** Whether the old one has to go before its replacement, even without a name of which there can be only one. */
  deleteBeforeReplace?: boolean;
  /** Makes it and says its id; its outputs are read after that. */
  create(server: Server, plan: Plan): Promise<string>;
  /** Asked before the read of a refresh. */
  exists?(server: Server, state: Properties): Promise<boolean>;
  /** The outputs that the server knows, over those of the plan or the state; undefined when it is gone. */
  read(server: Server, state: Properties): Promise<Properties | undefined>;
  /** What has to be known of it to read it, out of the id that a program imports; without, it cannot be imported. */
  imported?(id: string): Properties;
  update(server: Server, plan: Plan, state: Properties, changed: (name: string) => boolean): Promise<void>;
  delete(server: Server, state: Properties): Promise<void>;
}

/** A text of a plan or a state; empty for none. */
export function text(properties: Properties, name: string): string {
  const value = properties[name];
  return typeof value === "string" ? value : "";
}

export function list(properties: Properties, name: string): string[] {
  return (properties[name] ?? []) as string[];
}
