import type { ServerResponse } from "node:http";
import type { ErrorCode } from "./errors.ts";
import { s3Namespace, toXml } from "./xml.ts";

export function sendXml(response: ServerResponse, root: string, content: object): void {
  const body = toXml(root, content, s3Namespace);
  response.writeHead(200, { "content-type": "application/xml", "content-length": Buffer.byteLength(body) }).end(body);
}

export function s3ErrorXml(code: ErrorCode, message: string): string {
  return toXml("Error", { Code: code, Message: message });
}

export function sendEmpty(response: ServerResponse, status: 200 | 204, headers: Record<string, string> = {}): void {
  response.writeHead(status, status === 204 ? headers : { ...headers, "content-length": "0" }).end();
}

/** As in XML bodies: `2026-02-03T04:05:06.000Z`. */
export function isoDate(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** As in headers: `Tue, 03 Feb 2026 04:05:06 GMT`. */
export function httpDate(milliseconds: number): string {
  return new Date(milliseconds).toUTCString();
}

export function quoted(etag: string): string {
  return `"${etag}"`;
}
