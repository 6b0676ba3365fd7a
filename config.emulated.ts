/**
 * A stack's settings, with the accounts that `EMULATED=1` puts into the environment in place of the operator's own: of a
 * setting that is an object, only the fields that an account is.
 */
export function withEmulatedAccounts(
  raw: Readonly<Record<string, string>>,
  environment: NodeJS.ProcessEnv,
): Record<string, string> {
  const emulated = JSON.parse(environment["LAKEKEEPER_EMULATED_SETTINGS"] ?? "{}") as Record<string, string | object>;
  const settings = { ...raw };
  for (const [key, value] of Object.entries(emulated)) {
    const fields = (): object => JSON.parse(raw[key] ?? "{}") as object;
    settings[key] = typeof value === "string" ? value : JSON.stringify({ ...fields(), ...value });
  }
  return settings;
}
