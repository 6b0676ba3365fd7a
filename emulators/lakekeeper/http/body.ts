import { PlainTextError } from "./errors.ts";
import { type Json, parseJson } from "./json.ts";
import { JsonScanner, JsonSyntaxError, positionOf } from "./jsonScanner.ts";
import { type Path, type Shape, ShapeError } from "./shape.ts";

function renderPath(path: Path): string {
  return path.map((step, index) => (typeof step === "number" ? `[${step}]` : index === 0 ? step : `.${step}`)).join("");
}

/** Where in the text serde noticed that the value at `path` is not what it should be. */
function offsetOf(text: string, path: Path): number {
  const span = new JsonScanner(text).scan().spans.get(JSON.stringify(path));
  return span?.end ?? text.length;
}

/** Reads a request body. 400 for text that is not JSON, 422 for JSON of another shape, both in plain text. */
export function readBody<T>(text: string, contentType: string | undefined, shape: Shape<T>): T {
  if (!/^application\/(.+\+)?json\b/i.test(contentType ?? ""))
    throw new PlainTextError(415, "Expected request with `Content-Type: application/json`");
  let value: Json;
  try {
    value = parseJson(text);
  } catch {
    try {
      new JsonScanner(text).scan();
    } catch (error) {
      if (error instanceof JsonSyntaxError)
        throw new PlainTextError(400, `Failed to parse the request body as JSON: ${error.message}`);
      throw error;
    }
    throw new PlainTextError(400, "Failed to parse the request body as JSON");
  }
  try {
    return shape(value, []);
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error;
    const where = error.path.length === 0 ? "" : `${renderPath(error.path)}: `;
    const position = positionOf(text, offsetOf(text, error.path));
    throw new PlainTextError(
      422,
      `Failed to deserialize the JSON body into the target type: ${where}${error.message} at ${position}`,
    );
  }
}
