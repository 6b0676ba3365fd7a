import { secretsIn } from "../../../clients/redact.ts";

/** Parts of a mutation's input in which every value is a secret. */
const SECRET_PARTS = new Set(["variables", "registryCredentials"]);

/** Values in the variables of a query or mutation that no message may show. */
export function secretsOf(variables: object): string[] {
  const nested = Object.entries(variables).flatMap(([name, value]: [string, unknown]) => {
    if (typeof value !== "object" || value === null) return [];
    return SECRET_PARTS.has(name) ? Object.values(value).filter((item) => typeof item === "string") : secretsOf(value);
  });
  return [...secretsIn(variables), ...nested];
}
