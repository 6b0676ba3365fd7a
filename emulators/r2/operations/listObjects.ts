import { isoDate, quoted, sendXml } from "../answer.ts";
import { S3Error } from "../errors.ts";
import { after, successor, type Listing } from "../listing.ts";
import type { Call, Operation } from "../operation.ts";
import type { ObjectChecksum } from "../store.ts";

export const listObjectsV2: Operation = {
  name: "ListObjectsV2",
  method: "GET",
  resource: "bucket",
  subresource: ["list-type"],
  access: "object-read",
  action: "s3:ListBucket",
  handle(call) {
    const { query, bucket, response } = call;
    if (query.get("list-type") !== "2") throw new S3Error("InvalidArgument", "list-type must be 2");
    const token = query.get("continuation-token");
    const startAfter = query.get("start-after");
    const from = token !== null ? decodeToken(token) : startAfter ? after(startAfter) : "";
    const page = list(call, from);
    sendXml(response, "ListBucketResult", {
      Name: bucket,
      ...echo(query, page),
      ContinuationToken: token ?? undefined,
      StartAfter: startAfter === null ? undefined : page.encode(startAfter),
      KeyCount: page.listing.entries.length,
      NextContinuationToken: page.listing.next === undefined ? undefined : encodeToken(page.listing.next),
      ...contents(page, query.get("fetch-owner") === "true"),
    });
  },
};

export const listObjects: Operation = {
  name: "ListObjects",
  method: "GET",
  resource: "bucket",
  access: "object-read",
  action: "s3:ListBucket",
  handle(call) {
    const { query, bucket, response } = call;
    const marker = query.get("marker") ?? "";
    const delimiter = query.get("delimiter") ?? "";
    // A marker that is a common prefix of the page before stands for everything below it.
    const isCommonPrefix = delimiter !== "" && marker.endsWith(delimiter);
    const from = marker === "" ? "" : ((isCommonPrefix ? successor(marker) : undefined) ?? after(marker));
    const page = list(call, from);
    const last = page.listing.entries.at(-1);
    const nextMarker = last === undefined ? "" : "key" in last ? last.key : last.prefix;
    sendXml(response, "ListBucketResult", {
      Name: bucket,
      ...echo(query, page),
      Marker: page.encode(marker),
      NextMarker: page.listing.next === undefined ? undefined : page.encode(nextMarker),
      ...contents(page, true),
    });
  },
};

interface Page {
  listing: Listing;
  limit: number;
  encode: (key: string) => string;
}

function list({ store, bucket, query }: Call, from: string): Page {
  store.requireBucket(bucket);
  const encoding = query.get("encoding-type");
  if (encoding !== null && encoding !== "url") throw new S3Error("InvalidArgument", "encoding-type must be url");
  const requested = Number(query.get("max-keys") ?? "1000");
  if (!Number.isInteger(requested) || requested < 0) throw new S3Error("InvalidArgument", "max-keys must be a number");
  const limit = Math.min(requested, 1000);
  const listing = store.list(bucket, {
    prefix: query.get("prefix") ?? "",
    delimiter: query.get("delimiter") || undefined,
    from,
    limit,
  });
  return { listing, limit, encode: encoding === null ? (key) => key : urlEncode };
}

function echo(query: URLSearchParams, { listing, limit, encode }: Page): object {
  const delimiter = query.get("delimiter");
  return {
    Prefix: encode(query.get("prefix") ?? ""),
    Delimiter: delimiter === null ? undefined : encode(delimiter),
    MaxKeys: limit,
    EncodingType: query.get("encoding-type") ?? undefined,
    IsTruncated: listing.next !== undefined,
  };
}

function contents({ listing, encode }: Page, withOwner: boolean): object {
  const owner = withOwner ? { Owner: { ID: "r2-emulator", DisplayName: "r2-emulator" } } : {};
  return {
    Contents: listing.entries.flatMap((entry) => {
      if (!("key" in entry)) return [];
      const checksum = entry.checksum === null ? undefined : (JSON.parse(entry.checksum) as ObjectChecksum);
      return [
        {
          Key: encode(entry.key),
          LastModified: isoDate(entry.modified),
          ETag: quoted(entry.etag),
          ChecksumAlgorithm: checksum?.algorithm,
          Size: entry.size,
          StorageClass: "STANDARD",
          ...owner,
        },
      ];
    }),
    CommonPrefixes: listing.entries.flatMap((entry) => ("prefix" in entry ? [{ Prefix: encode(entry.prefix) }] : [])),
  };
}

/** Keys may hold characters that XML cannot; slashes stay readable, as in S3. */
function urlEncode(key: string): string {
  return encodeURIComponent(key).replaceAll("%2F", "/");
}

function encodeToken(from: string): string {
  return Buffer.from(from).toString("base64url");
}

function decodeToken(token: string): string {
  const from = Buffer.from(token, "base64url").toString();
  if (from === "" || encodeToken(from) !== token)
    throw new S3Error("InvalidArgument", "The continuation token is not valid.");
  return from;
}
