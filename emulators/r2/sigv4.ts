import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { S3Error } from "./errors.ts";
import type { Target } from "./target.ts";

/** The parts of a Signature Version 4, from the Authorization header or from the query of a presigned URL. */
export interface Signature {
  accessKeyId: string;
  sessionToken: string | undefined;
  /** yyyyMMdd'T'HHmmss'Z' */
  timestamp: string;
  scope: { date: string; region: string; service: string };
  signedHeaders: string[];
  /** Hex. */
  value: string;
  /** The hash of the body in hex, UNSIGNED-PAYLOAD or a STREAMING-... word; undefined when the request names none. */
  payload: string | undefined;
  presigned: boolean;
}

/** R2 knows its location hints as regions; `us-east-1` and the empty region are aliases of `auto`. */
const regions = ["wnam", "enam", "weur", "eeur", "apac", "oc", "auto"];
const regionAliases = ["us-east-1", ""];

const maximumSkew = 15 * 60 * 1000;
const maximumExpiry = 604_800;

/**
 * Reads the signature of a request and refuses one that is malformed, too old, or made for another region or service.
 * Whether it is right is for {@link verifySignature} to say, once the secret is known.
 *
 * @throws S3Error
 */
export function readSignature(request: IncomingMessage, target: Target, service: string, now: number): Signature {
  const signature = target.query.has("X-Amz-Signature")
    ? fromQuery(target.query, request, now)
    : fromHeaders(request, now);
  const { region } = signature.scope;
  if (!regions.includes(region) && !regionAliases.includes(region)) {
    throw new S3Error(
      "InvalidRegionName",
      `The region name '${region}' is not valid. Must be one of: ${regions.join(", ")}`,
    );
  }
  if (signature.scope.service !== service) {
    throw new S3Error("AuthorizationHeaderMalformed", `The credential scope must name the service '${service}'.`);
  }
  if (!signature.timestamp.startsWith(signature.scope.date)) {
    throw new S3Error("AuthorizationHeaderMalformed", "The date of the credential scope is not that of the request.");
  }
  requireSigned(signature, request);
  return signature;
}

/** @throws S3Error SignatureDoesNotMatch */
export function verifySignature(
  signature: Signature,
  secret: string,
  request: IncomingMessage,
  target: Target,
  payload: string,
): void {
  const canonical = canonicalRequest(signature, request, target, payload);
  const expected = sign(signature, secret, `AWS4-HMAC-SHA256\n${credentialScope(signature, sha256(canonical))}`);
  const given = Buffer.from(signature.value, "hex");
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw new S3Error("SignatureDoesNotMatch");
}

/** The last lines of every string to sign: time, scope, and what follows. */
export function credentialScope({ timestamp, scope }: Signature, rest: string): string {
  return `${timestamp}\n${scope.date}/${scope.region}/${scope.service}/aws4_request\n${rest}`;
}

export function sign({ scope }: Signature, secret: string, text: string): Buffer {
  const key = [scope.date, scope.region, scope.service, "aws4_request"].reduce<string | Buffer>(hmac, `AWS4${secret}`);
  return hmac(key, text);
}

export function sha256(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}

function fromHeaders(request: IncomingMessage, now: number): Signature {
  const header = request.headers.authorization;
  if (header === undefined) throw new S3Error("InvalidArgument", "Authorization");
  const match = /^AWS4-HMAC-SHA256\s+Credential=([^,\s]+),\s*SignedHeaders=([^,\s]+),\s*Signature=([0-9a-f]{64})$/.exec(
    header,
  );
  if (match === null) throw new S3Error("AuthorizationHeaderMalformed");
  const timestamp = single(request, "x-amz-date");
  if (timestamp === undefined)
    throw new S3Error("InvalidRequest", "Missing required header for this request: x-amz-date");
  if (Math.abs(parseTimestamp(timestamp) - now) > maximumSkew) throw new S3Error("RequestTimeTooSkewed");
  return {
    ...parseCredential(match[1]!),
    sessionToken: single(request, "x-amz-security-token"),
    timestamp,
    signedHeaders: match[2]!.split(";"),
    value: match[3]!,
    payload: single(request, "x-amz-content-sha256"),
    presigned: false,
  };
}

function fromQuery(query: URLSearchParams, request: IncomingMessage, now: number): Signature {
  if (request.headers.authorization !== undefined) {
    throw new S3Error("InvalidArgument", "Only one auth mechanism allowed; found both a header and a query signature.");
  }
  const required = (name: string): string => {
    const value = query.get(name);
    if (value === null) throw new S3Error("InvalidArgument", `Query parameter ${name} is missing.`);
    return value;
  };
  if (required("X-Amz-Algorithm") !== "AWS4-HMAC-SHA256") throw new S3Error("InvalidArgument", "X-Amz-Algorithm");
  const timestamp = required("X-Amz-Date");
  const expires = Number(required("X-Amz-Expires"));
  if (!Number.isInteger(expires) || expires < 1)
    throw new S3Error("InvalidArgument", "X-Amz-Expires must be a positive number");
  if (expires > maximumExpiry) {
    throw new S3Error(
      "InvalidArgument",
      "X-Amz-Expires must be less than a week (in seconds); that is, less than 604800 seconds",
    );
  }
  const signedAt = parseTimestamp(timestamp);
  if (signedAt - now > maximumSkew) throw new S3Error("RequestTimeTooSkewed");
  if (signedAt + expires * 1000 < now) throw new S3Error("ExpiredRequest");
  return {
    ...parseCredential(required("X-Amz-Credential")),
    sessionToken: query.get("X-Amz-Security-Token") ?? undefined,
    timestamp,
    signedHeaders: required("X-Amz-SignedHeaders").split(";"),
    value: required("X-Amz-Signature"),
    payload: query.get("X-Amz-Content-Sha256") ?? single(request, "x-amz-content-sha256") ?? "UNSIGNED-PAYLOAD",
    presigned: true,
  };
}

function parseCredential(credential: string): Pick<Signature, "accessKeyId" | "scope"> {
  const [accessKeyId, date, region, service, terminator, ...rest] = credential.split("/");
  if (!accessKeyId || !date || region === undefined || !service || terminator !== "aws4_request" || rest.length > 0) {
    throw new S3Error("AuthorizationHeaderMalformed", "The credential must be KEY/DATE/REGION/SERVICE/aws4_request.");
  }
  if (accessKeyId.length !== 32) {
    throw new S3Error("InvalidArgument", `Credential access key has length ${accessKeyId.length}, should be 32`);
  }
  return { accessKeyId, scope: { date, region, service } };
}

function parseTimestamp(timestamp: string): number {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(timestamp);
  const [year, month, day, hour, minute, second] = (match ?? []).slice(1).map(Number);
  if (second === undefined) throw new S3Error("InvalidArgument", "X-Amz-Date must be formatted as 19700101T000000Z");
  return Date.UTC(year!, month! - 1, day, hour, minute, second);
}

/** The host and every `x-amz-` header must be part of what was signed, or somebody could add or change them. */
function requireSigned({ signedHeaders }: Signature, request: IncomingMessage): void {
  const unsigned = Object.keys(request.headers)
    .filter((name) => name === "host" || name.startsWith("x-amz-"))
    .filter((name) => !signedHeaders.includes(name));
  if (unsigned.length > 0) {
    throw new S3Error(
      "AccessDenied",
      `There were headers present in the request which were not signed: ${unsigned.join(", ")}`,
    );
  }
}

function canonicalRequest(signature: Signature, request: IncomingMessage, target: Target, payload: string): string {
  const query = [...target.query]
    .filter(([name]) => name !== "X-Amz-Signature")
    .map(([name, value]) => [encode(name), encode(value)] as const)
    .sort(([a, x], [b, y]) => compare(a, b) || compare(x, y))
    .map((pair) => pair.join("="))
    .join("&");
  const headers = signature.signedHeaders.map((name) => {
    const values = request.headersDistinct[name] ?? [];
    return `${name}:${values.map((value) => value.trim().replace(/\s+/g, " ")).join(",")}\n`;
  });
  const path = target.path.split("/").map(encode).join("/");
  return [request.method, path, query, headers.join(""), signature.signedHeaders.join(";"), payload].join("\n");
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function single(request: IncomingMessage, name: string): string | undefined {
  const values = request.headersDistinct[name];
  if (values !== undefined && values.length > 1)
    throw new S3Error("InvalidArgument", `The header ${name} is there twice.`);
  return values?.[0];
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
