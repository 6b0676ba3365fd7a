import { redact } from "../../clients/redact.ts";
import type { LiveDeployment } from "./deployment.api.ts";
import { describe } from "./deployment.outcome.ts";

const SECRET_NAME = /secret|token|pass|pwd|private|key|credential/i;
/** Numbers, addresses without a password, paths and short words: without them a log could not be read. */
const HARMLESS = /^[\d.]+$|^https?:\/\/[^@]*$|^\/[\w/.-]*$|^[a-z_-]{1,15}$/;
const LONG_ENOUGH = 8;

/** What Railway tells of a deployment, where it could be asked. */
export interface Story {
  /** Of its steps, such as `HEALTHCHECK: no answer`. */
  readonly errors: readonly string[];
  /** The end of its log, line by line. */
  readonly log: readonly string[];
  /** The service's variables by name, references replaced. */
  readonly variables: Readonly<Record<string, string>>;
}

/** Why a deployment has failed, for a person: without the values of the service's variables and without passwords. */
export function explain(live: LiveDeployment, { errors, log, variables }: Story): string {
  const lines = [
    `its deployment ${live.id} is ${describe(live)}.`,
    ...errors,
    ...(log.length === 0 ? [] : ["Its log ends with:", ...log.map((line) => `  ${line}`)]),
    "What ran before goes on running. Mend the cause, then run the command again.",
  ];
  // Passwords also stand in addresses that are no variable's whole value.
  return redact(lines.join("\n"), secretsAmong(variables)).replace(/(\w+:\/\/[^\s:/@]*:)[^\s/@]+@/g, "$1[secret]@");
}

/** Values, lines of values and passwords within them that no message may show, longest first. */
export function secretsAmong(variables: Story["variables"]): string[] {
  const found = Object.entries(variables).flatMap(([name, value]) => {
    const isSecret = SECRET_NAME.test(name)
      ? value.length > 3
      : !name.startsWith("RAILWAY_") && value.length >= LONG_ENOUGH && !HARMLESS.test(value);
    const lines = value.split(/\r?\n/).filter((line) => line.length >= LONG_ENOUGH);
    return [...(isSecret ? [value, ...lines] : []), ...passwordIn(value)];
  });
  // A secret that begins another one would leave the rest of it.
  return [...new Set(found)].sort((one, other) => other.length - one.length);
}

/** The password of a URL, as it is written there and as it is meant. */
function passwordIn(value: string): string[] {
  const password = URL.canParse(value) ? new URL(value).password : "";
  if (password === "") return [];
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    return [password];
  }
}
