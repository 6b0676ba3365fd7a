import { gunzipSync } from "node:zlib";
import { asTableMetadata, type IcebergCatalog, type TableIdentifier } from "../clients/iceberg.ts";
import { parseJson } from "../clients/json.ts";
import { parseLocation, S3Client } from "../clients/s3.ts";
import type { Version } from "./tables.plan.ts";

/**
 * Reads a metadata file of a table with the credentials that the catalog vends for it: what is in the file decides
 * whether the catalog may be moved to it.
 */
export async function readVersion(catalog: IcebergCatalog, table: TableIdentifier, pointer: string): Promise<Version> {
  const loaded = await catalog.loadTable(table, "vended-credentials");
  const config = { ...loaded?.config, ...loaded?.["storage-credentials"]?.[0]?.config };
  const { "s3.endpoint": endpoint, "s3.access-key-id": accessKeyId, "s3.secret-access-key": secretAccessKey } = config;
  if (endpoint === undefined || accessKeyId === undefined || secretAccessKey === undefined) {
    throw new Error("the catalog vends no credentials for the table");
  }
  const sessionToken = config["s3.session-token"];
  const storage = new S3Client({
    endpoint,
    region: config["s3.region"] ?? "auto",
    accessKeyId,
    secretAccessKey,
    pathStyle: config["s3.path-style-access"] !== "false",
    ...(sessionToken === undefined ? {} : { sessionToken }),
  });
  const { bucket, key } = parseLocation(pointer);
  const body = await storage.get(bucket, key);
  const text = (pointer.endsWith(".gz.metadata.json") ? gunzipSync(body) : body).toString("utf8");
  return { pointer, metadata: asTableMetadata(parseJson(text)) };
}
