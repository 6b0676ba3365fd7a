const SECRET_NAME = /secret|token|password|private/i;

/** Values in a body whose names say that they are secret. */
export function secretsIn(body: unknown): string[] {
  if (typeof body !== "object" || body === null) return [];
  return Object.entries(body).flatMap(([name, value]) =>
    typeof value === "string" ? (SECRET_NAME.test(name) ? [value] : []) : secretsIn(value),
  );
}

/** A text without these secrets and without anything that looks like a JWT or an Authorization header. */
export function redact(text: string, secrets: readonly string[]): string {
  let result = text;
  // Very short values are no secrets, and taking them out would leave nothing readable.
  for (const secret of secrets.filter((value) => value.length > 3)) result = result.replaceAll(secret, "[secret]");
  return result
    .replace(/\beyJ[\w-]+\.[\w-]+(\.[\w-]+)?/g, "[token]")
    .replace(/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, "$1 [secret]");
}
