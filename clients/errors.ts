/**
 * An error meant for a person: it says what is wrong, with what value, and what to do next.
 *
 * The stack is the message, because the engine prints the stack of whatever a provider throws, and frames of ours help
 * nobody who runs `pulumi up`.
 */
export class UserError extends Error {
  override readonly name = "UserError";

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.stack = message;
  }
}
