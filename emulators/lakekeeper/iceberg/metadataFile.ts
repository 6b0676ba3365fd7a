import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { CatalogError } from "../http/errors.ts";
import { isObject, type Json, type JsonObject, parseJson, stringifyJson } from "../http/json.ts";
import { JsonScanner, JsonSyntaxError } from "../http/jsonScanner.ts";
import { uuid7 } from "../ids.ts";
import { IoError, type IoKind, type S3Client } from "../storage/s3.ts";
import { type Metadata, readMetadata } from "./metadata.ts";

const statusOf: Record<IoKind, number> = { NotFound: 400, PermissionDenied: 412, RateLimited: 412, Unexpected: 500 };

/** A storage failure as the catalog's clients see it. */
export function ioRefusal(error: unknown): unknown {
  if (!(error instanceof IoError)) return error;
  return new CatalogError(statusOf[error.kind], error.kind, error.message, ["Lakekeeper IO operation failed."]);
}

function unreadable(reason: string): CatalogError {
  return new CatalogError(400, "Deserialization", `Failed to deserialize table metadata: ${reason}`);
}

/** Only the name tells whether a metadata file is compressed. */
function isCompressed(location: string): boolean {
  return location.endsWith(".gz.metadata.json");
}

function parse(text: string): Json {
  try {
    return parseJson(text);
  } catch (cause) {
    try {
      new JsonScanner(text).scan();
    } catch (error) {
      if (error instanceof JsonSyntaxError) throw unreadable(error.message);
    }
    throw unreadable(String(cause));
  }
}

/** Reads table metadata. Throws 400 NotFound, Deserialization, 412 PermissionDenied, 424 FileDecompression. */
export async function readMetadataFile(client: S3Client, location: string): Promise<Metadata> {
  let content: Buffer;
  try {
    content = await client.read(location);
  } catch (error) {
    // The real server asks for the head first, so a failure of that is the one it tells.
    throw ioRefusal(
      await client.head(location).then(
        () => error,
        (first: unknown) => first,
      ),
    );
  }
  if (isCompressed(location)) {
    content = await promisify(gunzip)(content).catch(() => {
      const problem = "Failed to finish decompressing file";
      throw new CatalogError(424, "FileDecompression", `${problem}: ${problem}: invalid gzip header`);
    });
  }
  const metadata = readMetadata(parse(content.toString()));
  if (metadata === undefined) throw unreadable("data did not match any variant of untagged enum TableMetadataEnum");
  return metadata;
}

/** `00003-<id>.gz.metadata.json`, or without `.gz` when the table's properties say so. */
export function metadataFileName(version: number, metadata: JsonObject): string {
  const properties = isObject(metadata["properties"]) ? metadata["properties"] : {};
  const plain = properties["write.metadata.compression-codec"] === "none";
  return `${String(version).padStart(5, "0")}-${uuid7()}${plain ? "" : ".gz"}.metadata.json`;
}

/** The number of the file that follows `location`. */
export function nextVersion(location: string): number {
  return Number(/\/(\d+)-[^/]*$/.exec(location)?.[1] ?? -1) + 1;
}

/** Writes metadata of a table or view, compressed if its name says so. */
export async function writeMetadataFile(client: S3Client, location: string, metadata: JsonObject): Promise<void> {
  const text = stringifyJson(metadata);
  const content = isCompressed(location) ? await promisify(gzip)(text) : Buffer.from(text);
  await client.write(location, content).catch((error: unknown) => {
    throw ioRefusal(error);
  });
}
