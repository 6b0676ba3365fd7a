/**
 * An error meant for a person: it says what is wrong, with what value, and what to do next.
 *
 * Pulumi prints more of an error than its message. What is set here beside the message keeps that to the words meant
 * for a person, once.
 */
export class UserError extends Error {
  override readonly name = "UserError";
  /** Thrown by the program, it is printed as its message alone: the mark of Pulumi's own `RunError`. */
  readonly __pulumiRunError = true;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    // Thrown by a provider, it is printed as "<toString()>: <stack>".
    this.stack = message;
  }

  override toString(): string {
    return this.name;
  }
}

/** Somebody does not answer, which says nothing about what is there. */
export class NoAnswer extends UserError {}
