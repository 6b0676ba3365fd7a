import type { z } from "zod";

/** A value that the engine does not know yet: it hands this string to `check` and `diff` in a preview. */
const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** True for a value that will be known only once something upstream has been made. */
export function isUnknown(value: unknown): boolean {
  return value === UNKNOWN;
}

/** True when a value, or anything inside it, is not known yet. */
export function hasUnknown(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.values(value).some(hasUnknown);
  return isUnknown(value);
}

/** Made by `checkFailure`. */
export interface CheckFailure {
  readonly property: "";
  readonly reason: string;
}

/**
 * What is wrong with the inputs, as the engine prints it after `<type> resource '<name>' has a problem: `.
 *
 * No property is named: the engine would print its whole value in front of the reason, all the tables of a map, a secret
 * as well, and `<nil>` for a path such as `storageProfile.bucket`. The reason begins with the input where that helps.
 */
export function checkFailure(reason: string): CheckFailure {
  return { property: "", reason };
}

export interface CheckResult<Inputs> {
  readonly inputs: Inputs;
  readonly failures: CheckFailure[];
}

export interface DiffResult {
  readonly changes: boolean;
  /** Inputs that cannot change in place; naming one replaces the resource. */
  readonly replaces?: string[];
  readonly deleteBeforeReplace?: boolean;
}

/** What `read` found. Without an id the resource is certainly gone, and the engine forgets it. */
export interface ReadResult<Outputs> {
  readonly id?: string;
  readonly props?: Outputs;
}

/**
 * What a module named by `provider()` in dynamic.ts exports as its default.
 *
 * `check` and `diff` run in previews too, where inputs may be unknown; all other methods see known values. Secrets
 * arrive in the clear. An older release may have written the state: `olds` and `props` must be read with that in mind.
 */
export interface Provider<Inputs, Outputs extends Inputs = Inputs> {
  configure(request: unknown): Promise<void>;
  /** Every problem of the inputs at once. It shows in the preview, before anything is touched. */
  check(olds: Partial<Inputs>, news: Inputs): Promise<CheckResult<Inputs>>;
  diff(id: string, olds: Outputs, news: Inputs): Promise<DiffResult>;
  /** Adopts what is already there and is its own. Throws a `PartialFailure` once something has been made. */
  create(inputs: Inputs): Promise<{ id: string; outs: Outputs }>;
  read(id: string, props: Outputs): Promise<ReadResult<Outputs>>;
  update(id: string, olds: Outputs, news: Inputs): Promise<{ outs: Outputs }>;
  /** Finding nothing to delete is success. */
  delete(id: string, props: Outputs): Promise<void>;
}

/** For a provider that needs nothing of the stack's configuration. */
export async function configure(): Promise<void> {}

/**
 * Thrown by `create` and `update` when part of the work is done: the engine keeps the id and these properties, and the
 * next `up` calls `update`, which continues from there.
 */
export class PartialFailure<Outputs extends object> extends Error {
  override readonly name = "PartialFailure";
  readonly id: string;
  readonly properties: Outputs;
  readonly reasons: string[];

  constructor(id: string, properties: Outputs, reasons: string[]) {
    super(reasons.join("\n"));
    this.stack = this.message;
    this.id = id;
    this.properties = properties;
    this.reasons = reasons;
  }
}

/**
 * Checks inputs against a schema and turns its issues into failures for the preview, such as
 * `storageProfile.bucket must be a bucket's name, not "a b"`. Parts that are not known yet are not judged.
 *
 * @param schema its messages follow the path of the input; one that says what a value must be is completed with what it
 * is instead.
 * @param secrets names of top-level inputs whose values must not be printed.
 */
export function checkInputs<Inputs>(
  schema: z.ZodType,
  inputs: Inputs,
  { secrets = [] }: { secrets?: readonly string[] } = {},
): CheckResult<Inputs> {
  const failures: CheckFailure[] = [];
  for (const issue of schema.safeParse(inputs, { error: typeMessage }).error?.issues ?? []) {
    const values = valuesAlong(inputs, issue.path);
    if (values.some(isUnknown)) continue;
    const value = values.at(-1);
    const isShown =
      value !== undefined && !secrets.includes(String(issue.path[0])) && /^must (?!not )/.test(issue.message);
    const instead = isShown ? `, not ${JSON.stringify(value)}` : "";
    failures.push(checkFailure(`${issue.path.map(String).join(".")} ${issue.message}${instead}`));
  }
  return { inputs, failures };
}

/** For what a schema has no message of its own. */
function typeMessage(issue: z.core.$ZodRawIssue): string | undefined {
  return issue.code === "invalid_type" ? `must be of type ${issue.expected}` : undefined;
}

/** The value itself and every value met on the way down a path. */
function valuesAlong(root: unknown, path: readonly PropertyKey[]): unknown[] {
  const values = [root];
  for (const key of path) values.push((values.at(-1) as Record<PropertyKey, unknown> | null | undefined)?.[key]);
  return values;
}
