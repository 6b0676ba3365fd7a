import type { AccessRequest, Grant } from "./permissions.ts";

/** Why a session policy cannot be used. */
export class PolicyError extends Error {
  override readonly name = "PolicyError";
}

type Test = (request: AccessRequest) => boolean;
type Pattern = (text: string) => boolean;

/**
 * Reads an IAM policy document as sessions of AssumeRole carry it: statements with Effect, Action, Resource and
 * conditions on `s3:prefix`. Whatever else it holds is refused rather than ignored: an ignored condition would allow
 * too much.
 *
 * @throws PolicyError
 */
export function policyGrant(text: string): Grant {
  const { Statement, ...rest } = parseObject(text);
  refuseOthers(rest, ["Version", "Id"], "the policy");
  const statements = asList(Statement).map(parseStatement);
  return (request) => {
    const matching = statements.filter(({ matches }) => matches(request));
    return matching.length > 0 && matching.every(({ allows }) => allows);
  };
}

function parseStatement(statement: unknown): { allows: boolean; matches: Test } {
  if (!isRecord(statement)) throw new PolicyError("A statement must be an object.");
  const { Effect, Action, Resource, Condition = {}, ...rest } = statement;
  refuseOthers(rest, ["Sid"], "a statement");
  if (Effect !== "Allow" && Effect !== "Deny") throw new PolicyError("Effect must be Allow or Deny.");
  if (!isRecord(Condition)) throw new PolicyError("Condition must be an object.");
  const tests = [
    anyOf(
      asTexts(Action, "Action").map((action) => wildcard(action, "i")),
      ({ action }) => action,
    ),
    anyOf(
      asTexts(Resource, "Resource").map((resource) => wildcard(resource)),
      resourceName,
    ),
    ...Object.entries(Condition).flatMap(([operator, keys]) => parseConditions(operator, keys)),
  ];
  return { allows: Effect === "Allow", matches: (request) => tests.every((test) => test(request)) };
}

function parseConditions(operator: string, keys: unknown): Test[] {
  if (!isRecord(keys)) throw new PolicyError(`${operator} must be an object.`);
  return Object.entries(keys).map(([name, values]) => {
    if (name.toLowerCase() !== "s3:prefix") throw new PolicyError(`The condition key ${name} is not supported.`);
    const texts = asTexts(values, name);
    const patterns = operator.endsWith("Like") ? texts.map((text) => wildcard(text)) : texts.map(literal);
    const test = anyOf(patterns, ({ prefix }) => prefix);
    switch (operator) {
      case "StringEquals":
      case "StringLike":
        return test;
      case "StringNotEquals":
      case "StringNotLike":
        return (request) => !test(request);
      default:
        throw new PolicyError(`The condition operator ${operator} is not supported.`);
    }
  });
}

function anyOf(patterns: Pattern[], subject: (request: AccessRequest) => string | undefined): Test {
  return (request) => {
    const text = subject(request);
    return text !== undefined && patterns.some((matches) => matches(text));
  };
}

function resourceName({ bucket = "", key }: AccessRequest): string {
  return `arn:aws:s3:::${bucket}${key === undefined ? "" : `/${key}`}`;
}

/** `*` stands for any text, `?` for any one character. */
function wildcard(pattern: string, flags = ""): Pattern {
  const source = pattern
    .replace(/[.+^${}()|[\]\\/]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  const expression = new RegExp(`^${source}$`, `su${flags}`);
  return (text) => expression.test(text);
}

function literal(expected: string): Pattern {
  return (text) => text === expected;
}

function parseObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new PolicyError("The policy is not JSON.");
  }
  if (!isRecord(value)) throw new PolicyError("The policy must be an object.");
  return value;
}

function refuseOthers(rest: Record<string, unknown>, harmless: string[], where: string): void {
  const name = Object.keys(rest).find((name) => !harmless.includes(name));
  if (name !== undefined) throw new PolicyError(`The element ${name} of ${where} is not supported.`);
}

function asTexts(value: unknown, name: string): string[] {
  return asList(value).map((text) => {
    if (typeof text !== "string") throw new PolicyError(`${name} must be a text or a list of texts.`);
    return text;
  });
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [value];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
