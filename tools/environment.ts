import { UserError } from "../clients/errors.ts";

/** The ml-runner's variables, in the order of the runbook's section 3; each is a stack output of the same name. */
export const variables = [
  "LAKEHOUSE_CATALOG_TYPE",
  "LAKEHOUSE_REST_URI",
  "LAKEHOUSE_REST_WAREHOUSE",
  "LAKEHOUSE_CATALOG_TOKEN",
  "LAKEHOUSE_REST_VENDING",
] as const;

/** A variable's value; `undefined` for a secret that is not to be shown. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The ml-runner's environment out of a stack's outputs, in which the engine hides secrets unless it was told not to. */
export function environmentOf(outputs: Readonly<Record<string, unknown>>, secretsShown: boolean): Environment {
  return Object.fromEntries(
    variables.map((name) => [name, outputs[name] === "[secret]" && !secretsShown ? undefined : String(outputs[name])]),
  );
}

/** How `make env` can print an environment. */
export const formats = {
  dotenv: (environment: Environment) =>
    lines(environment, (name, value) => `${name}=${value === undefined ? mask : dotenvValue(name, value)}`),
  json: (environment: Environment) =>
    JSON.stringify(
      Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, value ?? mask])),
      null,
      2,
    ),
  export: (environment: Environment) =>
    lines(environment, (name, value) => (value === undefined ? leftOut(name) : `export ${name}=${shellWord(value)}`)),
  railway: railwayCommand,
} satisfies Record<string, (environment: Environment) => string>;

export type Format = keyof typeof formats;

const mask = "********";

function lines(environment: Environment, line: (name: string, value: string | undefined) => string): string {
  return Object.entries(environment)
    .map(([name, value]) => line(name, value))
    .join("\n");
}

/** What is meant to be run must not set a variable to the mask. */
function leftOut(name: string): string {
  return `# ${name} is a secret: SHOW_SECRETS=1 includes it`;
}

/** One command, so that Railway deploys the service once and not once for each variable. */
function railwayCommand(environment: Environment): string {
  const pairs: string[] = [];
  const comments: string[] = [];
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined) comments.push(leftOut(name));
    else pairs.push(shellWord(`${name}=${value}`));
  }
  return [...comments, `railway variable set ${pairs.join(" ")}`].join("\n");
}

/**
 * A value as POSIX shells, Node.js, python-dotenv and Docker Compose all read it. They agree on single quotes, inside
 * which everything is literal; they do not agree on escapes inside double quotes, so those hold nothing to escape.
 */
function dotenvValue(name: string, value: string): string {
  if (/^[A-Za-z0-9_./:@%+,=-]*$/.test(value)) return value;
  if (!value.includes("'")) return `'${value}'`;
  if (!/["$`\\]/.test(value)) return `"${value}"`;
  throw new UserError(
    `${name} has a single quote together with one of " $ \` \\, which no two dotenv readers read alike. ` +
      "Use FORMAT=export or FORMAT=json.",
  );
}

function shellWord(value: string): string {
  return /^[A-Za-z0-9_./:@%+,=-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`;
}
