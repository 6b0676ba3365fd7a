import type { Properties } from "../protocol.ts";
import type { CloudflareApi } from "./api.ts";
import type { Schema } from "./schema.ts";

/** The inputs with what the program left to the defaults and to the state. */
export type Plan = Properties;

export interface Found {
  id: string;
  outputs: Properties;
}

/** One type of resource, as the real plugin keeps it. */
export interface Resource {
  inputs: Schema;
  /** Shows in the state of the types that have one, e.g. `500`. */
  schemaVersion?: string;
  /** Outputs that are no inputs, which are unknown until the resource is made. */
  made: readonly string[];
  /** Outputs that only the answer to its creation has. */
  secretOutputs?: readonly string[];
  /** Outputs that an update of these inputs makes unknown again. */
  unsettled(changed: readonly string[], news: Properties): readonly string[];
  create(api: CloudflareApi, plan: Plan): Promise<Found>;
  /** Undefined when it is gone. */
  read(api: CloudflareApi, state: Properties, id: string): Promise<Found | undefined>;
  /** What has to be known of a resource to read it, out of the id that a program imports. */
  imported(id: string): Properties;
  update(api: CloudflareApi, plan: Plan, state: Properties): Promise<Properties>;
  delete(api: CloudflareApi, state: Properties): Promise<void>;
}

/** Thrown by `read` when the resource is there but of no use any more. */
export class Spent extends Error {
  override readonly name = "Spent";
  readonly summary: string;

  constructor(summary: string, detail: string) {
    super(detail);
    this.summary = summary;
  }
}
