/** A syntax error with the wording and position serde_json gives it. */
export class JsonSyntaxError extends Error {}

/** Start and end (exclusive) of a value in the text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** "line 1 column 2" of an offset, as serde_json counts: the column is the number of bytes consumed in the line. */
export function positionOf(text: string, offset: number): string {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf("\n") + 1;
  const line = before.split("\n").length;
  return `line ${line} column ${Buffer.byteLength(before.slice(lineStart))}`;
}

/**
 * Walks JSON text the way serde_json does. It is only used to explain a refusal: JSON.parse knows neither the wording
 * of a syntax error nor where in the text a value stood.
 */
export class JsonScanner {
  readonly spans = new Map<string, Span>();
  private readonly text: string;
  private at = 0;

  constructor(text: string) {
    this.text = text;
  }

  /** Visits the whole text. Throws JsonSyntaxError at the first error. `spans` is keyed by the JSON of the path. */
  scan(): this {
    this.value([]);
    this.space();
    if (this.at < this.text.length) this.fail("trailing characters", this.at + 1);
    return this;
  }

  private fail(message: string, offset: number): never {
    throw new JsonSyntaxError(`${message} at ${positionOf(this.text, offset)}`);
  }

  private space(): void {
    while (/[ \t\r\n]/.test(this.text.charAt(this.at))) this.at++;
  }

  private value(path: (string | number)[]): void {
    this.space();
    const start = this.at;
    const first = this.text.charAt(this.at);
    if (first === "") this.fail("EOF while parsing a value", this.at);
    else if (first === "{") this.object(path);
    else if (first === "[") this.array(path);
    else if (first === '"') this.string();
    else if (first === "t") this.ident("true");
    else if (first === "f") this.ident("false");
    else if (first === "n") this.ident("null");
    else if (/[-0-9]/.test(first)) this.number();
    else this.fail("expected value", this.at + 1);
    this.spans.set(JSON.stringify(path), { start, end: this.at });
  }

  private ident(word: string): void {
    for (const letter of word) {
      const found = this.text.charAt(this.at);
      if (found === "") this.fail("EOF while parsing a value", this.at);
      if (found !== letter) this.fail("expected ident", this.at + 1);
      this.at++;
    }
  }

  private number(): void {
    const match = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/.exec(this.text.slice(this.at));
    if (match === null) this.fail("invalid number", this.at + 1);
    this.at += match[0].length;
    if (/[0-9.eE]/.test(this.text.charAt(this.at))) this.fail("invalid number", this.at + 1);
  }

  private string(): string {
    const start = this.at++;
    for (;;) {
      const found = this.text.charAt(this.at);
      if (found === "") this.fail("EOF while parsing a string", this.at);
      if (found < " ") this.fail("control character (\\u0000-\\u001F) found while parsing a string", this.at);
      this.at += found === "\\" ? 2 : 1;
      if (found === '"') break;
    }
    try {
      return JSON.parse(this.text.slice(start, this.at)) as string;
    } catch {
      return this.fail("invalid escape", this.at);
    }
  }

  private object(path: (string | number)[]): void {
    this.at++;
    for (let first = true; ; first = false) {
      this.space();
      const found = this.text.charAt(this.at);
      if (found === "") this.fail("EOF while parsing an object", this.at);
      if (found === "}") break;
      if (!first) {
        if (found !== ",") this.fail("expected `,` or `}`", this.at + 1);
        this.at++;
        this.space();
      }
      const quote = this.text.charAt(this.at);
      if (quote === "") this.fail("EOF while parsing a value", this.at);
      if (quote === "}") this.fail("trailing comma", this.at + 1);
      if (quote !== '"') this.fail("key must be a string", this.at + 1);
      const key = this.string();
      this.space();
      if (this.at >= this.text.length) this.fail("EOF while parsing an object", this.at);
      if (this.text.charAt(this.at) !== ":") this.fail("expected `:`", this.at + 1);
      this.at++;
      this.value([...path, key]);
    }
    this.at++;
  }

  private array(path: (string | number)[]): void {
    this.at++;
    for (let index = 0; ; index++) {
      this.space();
      const found = this.text.charAt(this.at);
      if (found === "") this.fail("EOF while parsing a list", this.at);
      if (found === "]") break;
      if (index > 0) {
        if (found !== ",") this.fail("expected `,` or `]`", this.at + 1);
        this.at++;
        this.space();
        if (this.text.charAt(this.at) === "]") this.fail("trailing comma", this.at + 1);
      }
      this.value([...path, index]);
    }
    this.at++;
  }
}
