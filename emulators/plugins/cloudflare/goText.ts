export { STATUS_CODES as statusTexts } from "node:http";

/*
 * The real plugin is written in Go: these are the texts of Go's standard library that show in its requests and errors.
 */

/** A text that is JSON already. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/**
 * JSON with the keys in the order of the alphabet.
 *
 * @throws Error with Go's words for a RawJson that is none
 */
export function toJson(value: unknown): string {
  if (value instanceof RawJson) return compact(value.text);
  if (Array.isArray(value)) return `[${value.map(toJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, inner]) => `${JSON.stringify(name)}:${toJson(inner)}`);
  return `{${members.join(",")}}`;
}

function compact(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    throw new Error(`json: error calling MarshalJSON for type json.RawMessage: ${syntaxError(text)}`);
  }
}

/** What Go says of the first character that is wrong, for a text that begins wrongly; of others, that it ends too soon. */
function syntaxError(text: string): string {
  const start = text.trimStart();
  const literal = ["null", "true", "false"].find((word) => word[0] === start[0]);
  if (literal !== undefined) {
    const at = [...literal].findIndex((letter, index) => start[index] !== letter);
    const wrong = start[at];
    if (wrong !== undefined)
      return `invalid character '${wrong}' in literal ${literal} (expecting '${literal[at] ?? ""}')`;
  } else if (start !== "" && !/^[[{"\d-]/.test(start)) {
    return `invalid character '${start[0]}' looking for beginning of value`;
  }
  return "unexpected end of JSON input";
}

/** JSON parsed, but with the values of these keys left as the text they are. */
export function parseKeepingText(text: string, keys: readonly string[]): unknown {
  const string = String.raw`"(?:[^"\\]|\\.)*"`;
  const flat = String.raw`\{(?:[^{}"]|${string})*\}`;
  const nested = String.raw`\{(?:[^{}"]|${string}|${flat})*\}`;
  const members = new RegExp(String.raw`(?<!\\)("(?:${keys.join("|")})"\s*:\s*)(${nested})`, "g");
  return JSON.parse(text.replaceAll(members, (_, name: string, value: string) => name + JSON.stringify(value)));
}
