/**
 * A refusal in the words of the S3 API.
 *
 * Codes and statuses are those of R2's error reference; where it is silent, those of Amazon S3.
 */
export class S3Error extends Error {
  override readonly name = "S3Error";
  readonly code: ErrorCode;
  readonly status: number;
  readonly headers: Record<string, string>;

  constructor(code: ErrorCode, message?: string, headers: Record<string, string> = {}) {
    const [status, usualMessage] = codes[code];
    super(message ?? usualMessage);
    this.code = code;
    this.status = status;
    this.headers = headers;
  }
}

export type ErrorCode = keyof typeof codes;

const codes = {
  AccessDenied: [403, "Access Denied"],
  AuthorizationHeaderMalformed: [400, "The authorization header is malformed."],
  BadDigest: [400, "The checksum you specified did not match what we received."],
  BucketAlreadyOwnedByYou: [409, "The bucket you tried to create already exists, and you own it."],
  BucketNotEmpty: [409, "The bucket you tried to delete is not empty."],
  EntityTooLarge: [400, "Your proposed upload exceeds the maximum allowed object size."],
  EntityTooSmall: [400, "Your proposed upload is smaller than the minimum allowed object size."],
  ExpiredRequest: [400, "Request has expired"],
  ExpiredToken: [400, "The provided token has expired."],
  IncompleteBody: [400, "The request body terminated unexpectedly."],
  InternalError: [500, "We encountered an internal error. Please try again."],
  InvalidArgument: [400, "Invalid argument."],
  InvalidBucketName: [400, "The specified bucket name is not valid."],
  InvalidDigest: [400, "The checksum you specified is not valid."],
  InvalidLocationConstraint: [400, "The specified location constraint is not valid."],
  InvalidObjectName: [400, "The specified object name is not valid."],
  InvalidPart: [400, "One or more of the specified parts could not be found."],
  InvalidPartOrder: [400, "The list of parts was not in ascending order."],
  InvalidRange: [416, "The requested range is not satisfiable"],
  InvalidRegionName: [400, "The region name is not valid."],
  InvalidRequest: [400, "Invalid request."],
  InvalidToken: [400, "The provided token is malformed or otherwise invalid."],
  MalformedXML: [400, "The XML you provided was not well formed or did not validate against our published schema."],
  MetadataTooLarge: [400, "Your metadata headers exceed the maximum allowed metadata size."],
  MethodNotAllowed: [405, "The specified method is not allowed against this resource."],
  MissingContentLength: [411, "You must provide the Content-Length HTTP header."],
  NoSuchBucket: [404, "The specified bucket does not exist."],
  NoSuchKey: [404, "The specified key does not exist."],
  NoSuchUpload: [404, "The specified multipart upload does not exist."],
  NotImplemented: [501, "Not implemented"],
  PreconditionFailed: [412, "At least one of the pre-conditions you specified did not hold."],
  RequestTimeTooSkewed: [403, "The difference between the request time and the current time is too large."],
  ServiceUnavailable: [503, "Service is temporarily unavailable."],
  SignatureDoesNotMatch: [
    403,
    "The request signature we calculated does not match the signature you provided. Check your secret access key and signing method.",
  ],
  TooManyRequests: [429, "Rate limit exceeded."],
  Unauthorized: [401, "Unauthorized"],
  XAmzContentSHA256Mismatch: [400, "The provided 'x-amz-content-sha256' header does not match what was computed."],
} as const satisfies Record<string, readonly [status: number, message: string]>;
