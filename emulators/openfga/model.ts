import { z } from "zod";
import { invalid } from "./errors.ts";

const relation = z.strictObject({ relation: z.string() });
const reference = z.strictObject({
  type: z.string(),
  relation: z.string().optional(),
  wildcard: z.object({}).optional(),
});

/** Who has a relation, as an expression over tuples and other relations. */
export type Userset =
  | { this: object }
  | { computedUserset: { relation: string } }
  | { tupleToUserset: { tupleset: { relation: string }; computedUserset: { relation: string } } }
  | { union: { child: Userset[] } }
  | { intersection: { child: Userset[] } }
  | { difference: { base: Userset; subtract: Userset } };

const userset: z.ZodType<Userset> = z.lazy(() => {
  const children = z.strictObject({ child: z.array(userset).min(1) });
  return z.union([
    z.strictObject({ this: z.object({}) }),
    z.strictObject({ computedUserset: relation }),
    z.strictObject({ tupleToUserset: z.strictObject({ tupleset: relation, computedUserset: relation }) }),
    z.strictObject({ union: children }),
    z.strictObject({ intersection: children }),
    z.strictObject({ difference: z.strictObject({ base: userset, subtract: userset }) }),
  ]);
});

/** The body of POST authorization-models. */
export const modelRequest = z.strictObject({
  schema_version: z.enum(["1.1", "1.2"]),
  type_definitions: z
    .array(
      z.strictObject({
        type: z.string().min(1),
        relations: z.record(z.string(), userset).default({}),
        metadata: z
          .strictObject({
            relations: z.record(
              z.string(),
              z.strictObject({ directly_related_user_types: z.array(reference).default([]) }),
            ),
          })
          .nullish(),
      }),
    )
    .min(1),
});
export type AuthorizationModel = z.infer<typeof modelRequest>;

export interface TupleKey {
  readonly user: string;
  readonly relation: string;
  readonly object: string;
}

export function typeOf(object: string): string {
  return object.slice(0, Math.max(0, object.indexOf(":")));
}

/** Undefined for a type or relation that the model does not have. */
export function usersetOf(model: AuthorizationModel, type: string, name: string): Userset | undefined {
  const found = model.type_definitions.find((each) => each.type === type);
  return found !== undefined && Object.hasOwn(found.relations, name) ? found.relations[name] : undefined;
}

/** Throws 400 for a relation that is built on one which its type does not have. */
export function checkModel(model: AuthorizationModel): void {
  for (const { type, relations } of model.type_definitions)
    for (const [name, expression] of Object.entries(relations))
      for (const used of relationsIn(expression))
        if (!Object.hasOwn(relations, used))
          throw invalid(
            `the definition of relation '${name}' in object type '${type}' is invalid: '${type}#${used}' relation is undefined`,
            "invalid_authorization_model",
          );
}

/** Those of the same type. */
function relationsIn(expression: Userset): string[] {
  if ("computedUserset" in expression) return [expression.computedUserset.relation];
  if ("tupleToUserset" in expression) return [expression.tupleToUserset.tupleset.relation];
  if ("union" in expression) return expression.union.child.flatMap(relationsIn);
  if ("intersection" in expression) return expression.intersection.child.flatMap(relationsIn);
  if ("difference" in expression)
    return [...relationsIn(expression.difference.base), ...relationsIn(expression.difference.subtract)];
  return [];
}

/** Throws 400 unless the model lets this tuple be written. */
export function checkTuple(model: AuthorizationModel, { object, relation: name, user }: TupleKey): void {
  const refuse = (reason: string): never => {
    throw invalid(`Invalid tuple '${object}#${name}@${user}'. Reason: ${reason}`);
  };
  if (!/^[^\s:#@]+:[^\s:#]+$/.test(object)) refuse("invalid 'object' field format");
  if (!/^[^\s:#@]+:[^\s:#]+(#[^\s:#@]+)?$/.test(user)) refuse("the 'user' field is malformed");
  const type = typeOf(object);
  const definition = model.type_definitions.find((each) => each.type === type) ?? refuse(`type '${type}' not found`);
  if (!Object.hasOwn(definition.relations, name)) refuse(`relation '${type}#${name}' not found`);
  const [subject = "", userRelation] = user.split("#");
  const userType = typeOf(subject);
  const wildcard = subject.endsWith(":*");
  const allowed = definition.metadata?.relations[name]?.directly_related_user_types ?? [];
  if (
    !allowed.some(
      (each) => each.type === userType && each.relation === userRelation && (each.wildcard !== undefined) === wildcard,
    )
  ) {
    const named = wildcard
      ? `the typed wildcard '${user}'`
      : userRelation === undefined
        ? `type '${userType}'`
        : `'${userType}#${userRelation}'`;
    refuse(`${named} is not an allowed type restriction for '${type}#${name}'`);
  }
}
