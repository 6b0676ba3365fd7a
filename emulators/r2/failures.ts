import { errorEnvelope } from "../cloudflare/errors.ts";
import type { FailureOf } from "../faults.ts";
import { s3ErrorXml } from "./answer.ts";
import { S3Error, type ErrorCode } from "./errors.ts";
import { stsErrorXml } from "./sts.ts";

/** How R2 words a failure: its code in the S3 API, and its number, by status ("Error codes" in R2's documentation). */
const failures: Record<number, readonly [code: ErrorCode, number: number]> = {
  401: ["Unauthorized", 10002],
  403: ["AccessDenied", 10003],
  404: ["NoSuchKey", 10007],
  412: ["PreconditionFailed", 10031],
  429: ["TooManyRequests", 10058],
  503: ["ServiceUnavailable", 10043],
};

/** What the account answers when a fault makes it fail: S3's XML, that of STS, or Cloudflare's envelope. */
export const failureOf: FailureOf = (status, { method, url = "/" }) => {
  const [code, number] = failures[status] ?? ["InternalError", 10001];
  const { message } = new S3Error(code);
  if (url.startsWith("/client/v4/")) {
    return { type: "application/json", body: JSON.stringify(errorEnvelope(number, message)) };
  }
  if (method === "POST" && url.split("?")[0] === "/") {
    return { type: "text/xml", body: stsErrorXml(status < 500 ? "Sender" : "Receiver", code, message) };
  }
  return { type: "application/xml", body: s3ErrorXml(code, message) };
};
