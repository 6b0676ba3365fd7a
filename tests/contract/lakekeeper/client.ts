import { type Json, type JsonObject, parseJson, stringifyJson } from "../../../emulators/lakekeeper/http/json.ts";
import { S3Client } from "../../../emulators/lakekeeper/storage/s3.ts";
import type { World } from "./world.ts";

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
  /** `error.type` of a refusal in JSON. */
  readonly type: string | undefined;
}

export type Client = (method: string, path: string, body?: Json, headers?: Record<string, string>) => Promise<Reply>;

/** Calls a server; a body that is a string is sent as it is. */
export function clientOf(url: string): Client {
  return async (method, path, body, headers = {}) => {
    const answer = await fetch(url + path, {
      method,
      headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : stringifyJson(body) }),
    });
    const text = await answer.text();
    const isJson = answer.headers.get("content-type") === "application/json" && text !== "";
    const read = isJson ? parseJson(text) : text;
    const error = isJson ? (read as { error?: { type: string } }).error : undefined;
    return { status: answer.status, headers: answer.headers, body: read, type: error?.type };
  };
}

/** A creation request for a warehouse over the world's bucket. */
export function warehouseRequest(
  world: World,
  name: string,
  profile: JsonObject = {},
  rest: JsonObject = {},
): JsonObject {
  return {
    "warehouse-name": name,
    "storage-profile": {
      type: "s3",
      bucket: "lakehouse",
      "key-prefix": name,
      region: "auto",
      endpoint: world.r2.url,
      "path-style-access": true,
      "sts-enabled": true,
      "remote-signing-enabled": false,
      ...profile,
    },
    "storage-credential": {
      type: "s3",
      "credential-type": "cloudflare-r2",
      "account-id": world.accountId,
      "access-key-id": world.accessKeyId,
      "secret-access-key": world.secretAccessKey,
      token: world.tokenValue,
    },
    ...rest,
  };
}

/** The bucket as its owner sees it. */
export function bucketOf(world: World): S3Client {
  return new S3Client(`${world.r2.url}/`, "auto", world);
}

/** Table metadata of format version 2 as a writer other than the catalog makes it. */
export function foreignMetadata(id: string, location: string, more: JsonObject = {}): JsonObject {
  return {
    "format-version": 2,
    "table-uuid": id,
    location,
    "last-sequence-number": 1,
    "last-updated-ms": 1_700_000_000_000,
    "last-column-id": 1,
    schemas: [
      {
        type: "struct",
        "schema-id": 0,
        "identifier-field-ids": [],
        fields: [{ id: 1, name: "id", required: false, type: "long" }],
      },
    ],
    "current-schema-id": 0,
    "partition-specs": [{ "spec-id": 0, fields: [] }],
    "default-spec-id": 0,
    "last-partition-id": 999,
    properties: {},
    "sort-orders": [{ "order-id": 0, fields: [] }],
    "default-sort-order-id": 0,
    statistics: [],
    ...more,
  };
}
