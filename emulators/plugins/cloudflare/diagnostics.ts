/** A failure as plugins made from Terraform's report it: in two parts, which are printed in both orders. */
export class Diagnostic extends Error {
  override readonly name = "Diagnostic";
  readonly summary: string;
  readonly detail: string;

  /**
   * @param summary e.g. `failed to make http request`
   * @param detail what happened
   */
  constructor(summary: string, detail: string) {
    super(`${summary}: ${detail}`);
    this.summary = summary;
    this.detail = detail;
  }

  /** What the log says of it. */
  get line(): string {
    return `[ERROR] ${this.detail}: ${this.summary}`;
  }
}
