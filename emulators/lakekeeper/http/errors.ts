import { uuid7 } from "../ids.ts";

/** A refusal in the catalog's own JSON form: `{"error":{"message","type","code","stack"}}`. */
export class CatalogError extends Error {
  readonly status: number;
  readonly type: string;
  readonly details: readonly string[];

  constructor(status: number, type: string, message: string, details: readonly string[] = []) {
    super(message);
    this.status = status;
    this.type = type;
    this.details = details;
  }

  body(): object {
    const stack = [...this.details, `Error ID: ${uuid7()}`];
    return { error: { message: this.message, type: this.type, code: this.status, stack } };
  }
}

/** What the real server does and this one does not: said, and never silently allowed. */
export function notModelled(what: string): CatalogError {
  return new CatalogError(501, "NotModelled", `The stand-in for Lakekeeper does not model ${what}.`);
}

/** A refusal made before any handler runs, in plain text: bodies and queries that do not have the expected shape. */
export class PlainTextError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}
