/** A refusal as OpenFGA words it: `{"code","message"}` with an HTTP status. */
export class OpenFgaError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export function invalid(message: string, code = "validation_error"): OpenFgaError {
  return new OpenFgaError(400, code, message);
}

/** What OpenFGA can do and this stand-in cannot: said, and not guessed. */
export function notModelled(what: string): OpenFgaError {
  return new OpenFgaError(501, "unimplemented", `The stand-in for OpenFGA does not model ${what}.`);
}
