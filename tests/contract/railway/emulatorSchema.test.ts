import { existsSync, readFileSync } from "node:fs";
import {
  buildSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isIntrospectionType,
  isObjectType,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLSchema,
} from "graphql";

// The project's own short schema against a longer part of Railway's public one, for those who have that beside the checkout.

const PUBLIC = "../shared/specs/railway-subset.graphql";
const OWN = "emulators/railway/schema.graphql";
const testWithPublic = existsSync(PUBLIC) ? test : test.skip;

const read = (file: string): GraphQLSchema => buildSchema(readFileSync(file, "utf8"));

/** `name: Type = default` of each, in order. */
function inputs(fields: readonly (GraphQLArgument | GraphQLInputField)[]): string[] {
  return fields
    .map(({ name, type, defaultValue }) => {
      const usual = defaultValue === undefined ? "" : ` = ${JSON.stringify(defaultValue)}`;
      return `${name}: ${String(type)}${usual}`;
    })
    .sort();
}

/** What of `own` is otherwise in `other`. Fields of objects may be fewer; arguments, inputs and enums are whole. */
function differences(own: GraphQLSchema, other: GraphQLSchema): string[] {
  const found: string[] = [];
  function compare(what: string, ours: unknown, theirs: unknown): void {
    const [left, right] = [JSON.stringify(ours), JSON.stringify(theirs)];
    if (left !== right) found.push(`${what}: ${left}, and not ${right}`);
  }
  for (const type of Object.values(own.getTypeMap()).filter((one) => !isIntrospectionType(one))) {
    const theirs = other.getType(type.name);
    compare(type.name, type.constructor.name, theirs?.constructor.name);
    if (isEnumType(type) && isEnumType(theirs)) {
      const names = (one: typeof type): string[] =>
        one
          .getValues()
          .map(({ name }) => name)
          .sort();
      compare(type.name, names(type), names(theirs));
    }
    if (isInputObjectType(type) && isInputObjectType(theirs)) {
      compare(type.name, inputs(Object.values(type.getFields())), inputs(Object.values(theirs.getFields())));
    }
    if (isObjectType(type) && isObjectType(theirs)) {
      for (const [name, field] of Object.entries(type.getFields())) {
        const public_ = theirs.getFields()[name];
        compare(`${type.name}.${name}`, String(field.type), public_ && String(public_.type));
        compare(`${type.name}.${name}()`, inputs(field.args), public_ && inputs(public_.args));
      }
    }
  }
  return found;
}

testWithPublic("every field, argument and type of it is as in the public one", () => {
  expect(differences(read(OWN), read(PUBLIC))).toEqual([]);
});

test.each([
  ["a field that is not there", "type Query { a: Int, b: Int }", 'Query.b: "Int", and not undefined'],
  ["another nullability", "type Query { a: Int! }", 'Query.a: "Int!", and not "Int"'],
  ["an argument that is missing", "type Query { c: E }", 'Query.c(): [], and not ["i: I"]'],
  [
    "a default of its own",
    "type Query { c(i: I): E } enum E { X Y } input I { a: Int = 1 }",
    'I: ["a: Int = 1"], and not ["a: Int"]',
  ],
  [
    "an enum that is not whole",
    "type Query { c(i: I): E } enum E { X } input I { a: Int }",
    'E: ["X"], and not ["X","Y"]',
  ],
  [
    "a type of another kind",
    "type Query { c(i: I): E } scalar E input I { a: Int }",
    'E: "GraphQLScalarType", and not "GraphQLEnumType"',
  ],
])("%s is seen", (_what, sdl, expected) => {
  const other = buildSchema("type Query { a: Int, c(i: I): E } enum E { X Y } input I { a: Int }");
  expect(differences(buildSchema(sdl.includes("c: E") ? `${sdl} enum E { X Y }` : sdl), other)).toContain(expected);
});

test("nothing in it is left over that no operation leads to", () => {
  const schema = read(OWN);
  const reached = new Set<string>();
  const open = [schema.getQueryType()!, schema.getMutationType()!].map(({ name }) => name);
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (reached.has(name)) continue;
    reached.add(name);
    const type = schema.getType(name);
    if (!isObjectType(type) && !isInputObjectType(type)) continue;
    for (const field of Object.values(type.getFields()) as (GraphQLInputField & { args?: GraphQLArgument[] })[]) {
      open.push(...[field, ...(field.args ?? [])].map((one) => getNamedType(one.type).name));
    }
  }
  const declared = Object.values(schema.getTypeMap()).filter(({ astNode }) => astNode != null);
  expect(declared.map(({ name }) => name).filter((name) => !reached.has(name))).toEqual([]);
});
