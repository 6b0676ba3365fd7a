const SHORT: Record<string, string> = {
  "\x07": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
};

/** A text in quotes as Go's `%q` writes it, in the errors of the real plugins. */
export function quoteGo(text: string): string {
  const inner = text.replaceAll(/["\\\p{C}]/gu, (character) => {
    if (character === '"' || character === "\\") return `\\${character}`;
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x80) return SHORT[character] ?? `\\x${code.toString(16).padStart(2, "0")}`;
    return code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
  });
  return `"${inner}"`;
}
