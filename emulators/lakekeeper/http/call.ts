import type { IncomingHttpHeaders } from "node:http";
import type { Identity } from "../auth/authenticator.ts";
import { defaultProject, type Catalog } from "../catalog.ts";
import { readBody } from "./body.ts";
import { CatalogError, PlainTextError } from "./errors.ts";
import type { Shape } from "./shape.ts";

/** One request as a handler sees it. */
export class Call {
  readonly catalog: Catalog;
  readonly params: Readonly<Record<string, string | undefined>>;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** Who sent it; undefined while authentication is off. */
  readonly identity: Identity | undefined;
  private readonly text: string;

  constructor(
    catalog: Catalog,
    params: Readonly<Record<string, string | undefined>>,
    query: URLSearchParams,
    headers: IncomingHttpHeaders,
    identity: Identity | undefined,
    text: string,
  ) {
    this.catalog = catalog;
    this.params = params;
    this.query = query;
    this.headers = headers;
    this.identity = identity;
    this.text = text;
  }

  body<T>(shape: Shape<T>): T {
    return readBody(this.text, this.headers["content-type"], shape);
  }

  param(name: string): string {
    return this.params[name] ?? "";
  }

  header(name: string): string | undefined {
    const value = this.headers[name];
    return Array.isArray(value) ? value.join(", ") : value;
  }

  /** The project the request is about. Throws 400 ProjectIdMissing when there is no default one. */
  projectId(): string {
    const named = this.header("x-project-id");
    if (named !== undefined) return named;
    if (this.catalog.settings.defaultProject) return defaultProject;
    throw new CatalogError(400, "ProjectIdMissing", "Project ID is required but not provided.");
  }

  /** A boolean in the query, in any case: PyIceberg writes `False`. */
  flag(name: string, otherwise: boolean): boolean {
    const value = this.query.get(name)?.toLowerCase();
    if (value === undefined) return otherwise;
    if (value !== "true" && value !== "false")
      throw new PlainTextError(
        400,
        `Failed to deserialize query string: ${name}: provided string was not \`true\` or \`false\``,
      );
    return value === "true";
  }

  /** The address clients reach this server under, without a trailing slash. */
  baseUri(): string {
    const { baseUri, useForwardedHeaders } = this.catalog.settings;
    if (baseUri !== undefined) return baseUri;
    const forwarded = (name: string): string | undefined =>
      useForwardedHeaders ? this.header(`x-forwarded-${name}`)?.split(",")[0]?.trim() : undefined;
    const host = forwarded("host") ?? this.header("host") ?? "localhost";
    const port = forwarded("port");
    const withPort = port === undefined || host.includes(":") || /^(80|443)$/.test(port) ? host : `${host}:${port}`;
    return `${forwarded("proto") ?? "http"}://${withPort}${(forwarded("prefix") ?? "").replace(/\/+$/, "")}`;
  }
}

/** What goes back. A string body is sent as it is, an object as JSON, none as an empty body. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | object;
}

export function ok(body: string | object, headers: Record<string, string> = {}): Answer {
  return { status: 200, body, headers: { "content-type": "application/json", ...headers } };
}

export const noContent: Answer = { status: 204 };

export interface Route {
  readonly method: "GET" | "POST" | "DELETE" | "HEAD";
  /** A find-my-way path. */
  readonly path: string;
  readonly handle: (call: Call) => Promise<Answer> | Answer;
}
