import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { buildSchema, isEnumType, isInputObjectType, isObjectType, type GraphQLSchema } from "graphql";
import { railwaySchema } from "../../../emulators/railway/graphql.ts";

const published = join(process.cwd(), "../shared/specs/railway-subset.graphql");

/** Every field, argument and value of a schema with its type, as in `Query.project(id: String!): Project!`. */
function lines(schema: GraphQLSchema): string[] {
  return Object.values(schema.getTypeMap()).flatMap((type) => {
    if (type.name.startsWith("__")) return [];
    if (isEnumType(type)) return type.getValues().map(({ name }) => `${type.name}.${name}`);
    if (isInputObjectType(type)) {
      return Object.values(type.getFields()).map((field) => `${type.name}.${field.name}: ${String(field.type)}`);
    }
    if (!isObjectType(type)) return [`scalar ${type.name}`];
    return Object.values(type.getFields()).flatMap((field) => [
      `${type.name}.${field.name}: ${String(field.type)}`,
      ...field.args.map((arg) => `${type.name}.${field.name}(${arg.name}: ${String(arg.type)})`),
    ]);
  });
}

test("the schema has the operations that the stack lives on", () => {
  expect(lines(railwaySchema())).toEqual(
    expect.arrayContaining([
      "Mutation.projectCreate: Project!",
      "Mutation.serviceInstanceDeployV2: String!",
      "Query.deployment(id: String!)",
      "VolumeInstance.isPendingDeletion: Boolean!",
      "DeploymentStatus.CRASHED",
    ]),
  );
});

(existsSync(published) ? test : test.skip)("everything in it is in Railway's published schema, with the same types", () => {
  const theirs = new Set(lines(buildSchema(readFileSync(published, "utf8"))));
  expect(lines(railwaySchema()).filter((line) => !theirs.has(line))).toEqual([]);
});
