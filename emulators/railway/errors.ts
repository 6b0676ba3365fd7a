import { GraphQLError } from "graphql";

/** A refusal as Railway words it, in an answer with status 200. */
export class Refusal extends GraphQLError {
  constructor(message: string, code = "INTERNAL_SERVER_ERROR") {
    super(message, { extensions: { code } });
  }
}

/** Railway's one answer to a dead token and to an object of somebody else. */
export const notAuthorized = (code?: string): Refusal => new Refusal("Not Authorized", code);

export const notFound = (what: string): Refusal => new Refusal(`${what} not found`);
