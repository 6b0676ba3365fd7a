/** A refusal as Cloudflare's API words it. */
export class CloudflareError extends Error {
  override readonly name = "CloudflareError";
  readonly status: number;
  readonly code: number;

  constructor(status: number, code: number, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export function errorEnvelope(code: number, message: string): object {
  return { success: false, errors: [{ code, message }], messages: [], result: null };
}

/** The answer to a body that is not as the API wants it. */
export function invalidBody(detail: string): CloudflareError {
  const message = "The JSON you provided was not well formed or did not validate against our published schema";
  return new CloudflareError(400, 10040, `${message}: ${detail}.`);
}

/** @param path below `/client/v4` */
export function noRoute(path: string): CloudflareError {
  return new CloudflareError(404, 7003, `Could not route to ${path}, perhaps your object identifier is invalid?`);
}
