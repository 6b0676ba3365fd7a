/*
 * What the engine and a plugin say to each other, as the engine's own log of its gRPC calls writes it: names in camel
 * case, what is empty left out. See pulumi/provider.proto.
 */

export type Properties = Record<string, unknown>;

/** Stands for a value that becomes known only when a resource is really made. */
export const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

interface Of {
  urn: string;
  name: string;
  /** E.g. `cloudflare:index/r2Bucket:R2Bucket`. */
  type: string;
}

export interface ConfigRequest extends Of {
  olds: Properties;
  news: Properties;
}

export interface ConfigureRequest {
  args: Properties;
}

export interface ConfigureResponse {
  acceptSecrets?: boolean;
  supportsPreview?: boolean;
  acceptResources?: boolean;
  acceptOutputs?: boolean;
  supportsAutonamingConfiguration?: boolean;
}

export interface CheckRequest extends Of {
  /** The inputs of last time. */
  olds: Properties;
  news: Properties;
}

export interface CheckResponse {
  inputs: Properties;
  failures?: CheckFailure[];
}

export interface CheckFailure {
  property?: string;
  reason: string;
}

export interface DiffRequest extends Of {
  id: string;
  /** The outputs of last time. */
  olds: Properties;
  news: Properties;
  oldInputs?: Properties;
}

export interface DiffResponse {
  changes?: "DIFF_NONE" | "DIFF_SOME";
  diffs?: string[];
  replaces?: string[];
  /** Outputs that stay as they are. */
  stables?: string[];
  deleteBeforeReplace?: boolean;
  detailedDiff?: Record<string, PropertyDiff>;
  hasDetailedDiff?: boolean;
}

/** Without a kind: the property is new. */
export interface PropertyDiff {
  kind?: "UPDATE" | "DELETE" | "ADD_REPLACE" | "UPDATE_REPLACE" | "DELETE_REPLACE";
  inputDiff?: boolean;
}

export interface CreateRequest extends Of {
  properties: Properties;
  preview?: boolean;
}

export interface CreateResponse {
  id?: string;
  properties: Properties;
}

export interface ReadRequest extends Of {
  /** What the program wants to import, when there are no properties yet. */
  id: string;
  properties?: Properties;
  inputs?: Properties;
}

/** Without an id: the resource is gone. */
export interface ReadResponse {
  id?: string;
  properties: Properties;
  inputs: Properties;
}

export interface UpdateRequest extends Of {
  id: string;
  olds: Properties;
  news: Properties;
  oldInputs?: Properties;
  preview?: boolean;
}

export interface UpdateResponse {
  properties: Properties;
}

export interface DeleteRequest extends Of {
  id: string;
  properties: Properties;
}

export interface InvokeRequest {
  /** E.g. `cloudflare:index/getZone:getZone`. */
  tok: string;
  args: Properties;
  preview?: boolean;
}

export interface InvokeResponse {
  return?: Properties;
  failures?: CheckFailure[];
}

/** Thrown by `create` for what was made and failed after that: the engine keeps it, and the next up updates it. */
export class InitializationError extends Error {
  override readonly name = "InitializationError";
  readonly id: string;
  readonly properties: Properties;

  constructor(message: string, id: string, properties: Properties) {
    super(message);
    this.id = id;
    this.properties = properties;
  }
}

/** A plugin for resources. What it throws, the engine prints as it is. */
export interface Plugin {
  version: string;
  checkConfig(request: ConfigRequest): CheckResponse;
  /** Not implemented by every plugin. */
  diffConfig?(request: ConfigRequest): DiffResponse;
  configure(request: ConfigureRequest): ConfigureResponse;
  check(request: CheckRequest): CheckResponse | Promise<CheckResponse>;
  diff(request: DiffRequest): DiffResponse | Promise<DiffResponse>;
  create(request: CreateRequest): Promise<CreateResponse>;
  read(request: ReadRequest): Promise<ReadResponse>;
  update(request: UpdateRequest): Promise<UpdateResponse>;
  delete(request: DeleteRequest): Promise<void>;
  invoke(request: InvokeRequest): Promise<InvokeResponse>;
}

/** Prints on the row of a resource, or on the stack's without one. */
export type Log = (severity: "info" | "warning" | "error", message: string, urn?: string) => Promise<void>;

const signature = "4dabf18193072939515e22adb298388d";
const secretSignature = "1b47061264138c4ac30d75fd1eb44270";

export function secret(value: unknown): Properties {
  return { [signature]: secretSignature, value };
}

export function isSecret(value: unknown): boolean {
  return typeof value === "object" && value !== null && (value as Properties)[signature] === secretSignature;
}

/** The value with every secret in it in the clear. */
export function reveal(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reveal);
  if (typeof value !== "object" || value === null) return value;
  const properties = value as Properties;
  if (properties[signature] === secretSignature) return reveal(properties["value"]);
  return Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, reveal(inner)]));
}
