import { XMLBuilder, XMLParser, XMLValidator } from "fast-xml-parser";
import { S3Error } from "./errors.ts";

const builder = new XMLBuilder({ ignoreAttributes: false, suppressEmptyNode: true });
const parser = new XMLParser({
  parseTagValue: false,
  ignoreDeclaration: true,
  removeNSPrefix: true,
  trimValues: false,
});

export const s3Namespace = "http://s3.amazonaws.com/doc/2006-03-01/";

/** An XML document; a property that is an array repeats its element, `undefined` leaves it out. */
export function toXml(root: string, content: object, namespace?: string): string {
  const attributes = namespace === undefined ? {} : { "@_xmlns": namespace };
  const document = builder.build({ [root]: { ...attributes, ...content } });
  return `<?xml version="1.0" encoding="UTF-8"?>\n${document}`;
}

/**
 * The element `root` of a request's XML body, every text as a string.
 *
 * @throws S3Error MalformedXML when the text is no XML, or its root is another element
 */
export function parseXml(text: string, root: string): XmlElement {
  if (XMLValidator.validate(text) !== true) throw new S3Error("MalformedXML");
  const document = parser.parse(text) as Record<string, unknown>;
  const element = document[root];
  if (typeof element !== "object" || element === null) throw new S3Error("MalformedXML");
  return new XmlElement(element as Record<string, unknown>);
}

/** Reads children whose number and kind the request's schema prescribes. */
export class XmlElement {
  readonly #children: Record<string, unknown>;

  constructor(children: Record<string, unknown>) {
    this.#children = children;
  }

  text(name: string): string | undefined {
    const child = this.#children[name];
    if (child === undefined || typeof child === "string") return child;
    throw new S3Error("MalformedXML");
  }

  requiredText(name: string): string {
    const text = this.text(name);
    if (text === undefined) throw new S3Error("MalformedXML");
    return text;
  }

  elements(name: string): XmlElement[] {
    const child = this.#children[name];
    if (child === undefined) return [];
    return (Array.isArray(child) ? child : [child]).map((element: unknown) => {
      if (typeof element !== "object" || element === null) throw new S3Error("MalformedXML");
      return new XmlElement(element as Record<string, unknown>);
    });
  }
}
