import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  buildSchema,
  execute,
  getOperationAST,
  GraphQLError,
  parse,
  validate,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLScalarType,
  type GraphQLSchema,
} from "graphql";
import type { Caller } from "./access.ts";
import type { RootResolver } from "./resolvers/resolvers.ts";

export interface GraphqlRequest {
  readonly query: string;
  readonly variables?: Record<string, unknown> | null;
  readonly operationName?: string | null;
}

/** @throws SyntaxError for a body that is no GraphQL request */
export function readRequest(body: string): GraphqlRequest {
  const { query, variables, operationName } = { ...(JSON.parse(body) as Partial<GraphqlRequest>) };
  if (typeof query !== "string") throw new SyntaxError("a request has a query");
  return { query, variables: variables ?? null, operationName: operationName ?? null };
}

export interface GraphqlAnswer {
  readonly status: 200 | 400;
  readonly body: { readonly data?: unknown; readonly errors?: readonly object[] };
}

export function railwaySchema(): GraphQLSchema {
  const schema = buildSchema(readFileSync(join(import.meta.dirname, "schema.graphql"), "utf8"));
  const variables = schema.getType("EnvironmentVariables") as GraphQLScalarType;
  variables.parseValue = (value) => {
    const isMap = typeof value === "object" && value !== null && !Array.isArray(value);
    if (isMap && Object.values(value).every((one) => typeof one === "string")) return value;
    throw new GraphQLError("EnvironmentVariables is a map of texts");
  };
  return schema;
}

/** The part of the API that is called: the root fields of the operation, joined by commas; `?` when it cannot be read. */
export function operationOf(request: GraphqlRequest): string {
  try {
    const operation = getOperationAST(parse(request.query), request.operationName);
    const fields = operation?.selectionSet.selections ?? [];
    return fields.map((field) => ("name" in field ? field.name.value : "?")).join(",") || "?";
  } catch {
    return "?";
  }
}

/**
 * Answers a request as Railway does: what does not fit the schema with 400, what a resolver refuses with 200 and an
 * error.
 */
export async function answer(
  schema: GraphQLSchema,
  resolvers: Readonly<Record<string, RootResolver>>,
  request: GraphqlRequest,
  caller: Caller | undefined,
): Promise<GraphqlAnswer> {
  let document: DocumentNode;
  try {
    document = parse(request.query);
  } catch (error) {
    return invalid([error as GraphQLError]);
  }
  const problems = validate(schema, document);
  if (problems.length > 0) return invalid(problems);
  const result: ExecutionResult = await execute({
    schema,
    document,
    rootValue: resolvers,
    contextValue: caller,
    variableValues: request.variables ?? {},
    operationName: request.operationName ?? null,
  });
  // Without data the variables did not fit, and nothing was executed.
  if (result.data === undefined) return invalid(result.errors ?? []);
  const errors = result.errors?.map(masked);
  return { status: 200, body: { data: result.data, ...(errors && { errors }) } };
}

/** A fault of the stand-in itself looks as one of Railway's would: it says nothing. Whoever runs it is told. */
function masked(error: GraphQLError): object {
  const { originalError } = error;
  if (originalError === undefined || originalError instanceof GraphQLError) return error.toJSON();
  process.stderr.write(`${originalError.stack}\n`);
  return { ...error.toJSON(), message: "Problem processing request", extensions: { code: "INTERNAL_SERVER_ERROR" } };
}

function invalid(errors: readonly GraphQLError[]): GraphqlAnswer {
  const listed = errors.map((error) => ({ ...error.toJSON(), extensions: { code: "GRAPHQL_VALIDATION_FAILED" } }));
  return { status: 400, body: { errors: listed } };
}
