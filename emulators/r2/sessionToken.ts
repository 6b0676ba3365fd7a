import { createHmac, timingSafeEqual } from "node:crypto";

/*
 * The one kind of JWT that R2's session tokens are. Written by hand because the emulator shall stay small: a library
 * for all kinds of JWT brings Web Crypto along, which is a seventh of the memory of the whole process.
 */

const header = encode({ alg: "HS256", typ: "JWT" });

/** A JWT signed with HS256. */
export function signJwt(claims: object, secret: string): string {
  const content = `${header}.${encode(claims)}`;
  return `${content}.${mac(content, secret).toString("base64url")}`;
}

/** The claims of a JWT, believed by nobody yet; undefined when the text is no HS256 JWT. */
export function readJwt(jwt: string): Record<string, unknown> | undefined {
  const [head = "", claims = "", , ...rest] = jwt.split(".");
  const { alg } = decode(head) ?? {};
  return alg === "HS256" && rest.length === 0 ? decode(claims) : undefined;
}

export function isSignedWith(jwt: string, secret: string): boolean {
  const end = jwt.lastIndexOf(".");
  const given = Buffer.from(jwt.slice(end + 1), "base64url");
  const expected = mac(jwt.slice(0, end), secret);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function mac(content: string, secret: string): Buffer {
  return createHmac("sha256", secret).update(content).digest();
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function decode(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, "base64url").toString());
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
