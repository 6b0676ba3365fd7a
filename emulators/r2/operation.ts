import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { Body } from "./body.ts";
import type { AccessRequest } from "./permissions.ts";
import type { Store } from "./store.ts";
import type { Uploads } from "./uploads.ts";

/** The kinds of right that R2's permissions are made of. */
export type Access = "object-read" | "object-write" | "admin-read" | "admin-write";

/** One operation of the S3 API. */
export interface Operation {
  /** As in the S3 API reference, e.g. `ListObjectsV2`. */
  name: string;
  method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  resource: Resource;
  /** The query parameters that tell it from the others of its method and resource, e.g. `uploads`. */
  subresource?: readonly string[];
  /** A header that does the same, e.g. `x-amz-copy-source`. */
  header?: string;
  access: Access;
  /** What a policy calls it. */
  action: string;
  /** Reads the body itself. That of any other operation must be what was signed, but is of no use. */
  readsBody?: true;
  /** Checks the rights of each of its keys itself, because they are in its body. */
  authorizesItself?: true;
  /** May answer by sending an answer, or throw an S3Error as long as nothing has been sent. */
  handle(call: Call): Promise<void> | void;
}

export type Resource = "account" | "bucket" | "object";

/** A request whose signature is right and whose sender may do it. */
export interface Call {
  store: Store;
  uploads: Uploads;
  /** Empty for operations on the account. */
  bucket: string;
  /** Empty for operations on a bucket. */
  key: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: Body;
  response: ServerResponse;
  /** Milliseconds since 1970. */
  now: number;
  /**
   * Checks a right that follows from the content of the request, such as reading the source of a copy.
   *
   * @throws S3Error AccessDenied
   */
  authorize: (request: Omit<AccessRequest, "operation">) => void;
}
