import { UserError } from "../../../clients/errors.ts";

/** A token and its kind, which decides the header it is sent in. */
export interface RailwayToken {
  /** `account`: an account's or a workspace's token. `project`: one for a single environment of a single project. */
  readonly kind: "account" | "project";
  readonly value: string;
  /** The setting it comes from, for messages. */
  readonly from: string;
}

export interface Settings {
  /** URL of the GraphQL API. */
  readonly endpoint: string;
  readonly token: RailwayToken | undefined;
}

/** What the engine hands to a provider's `configure`: the stack's configuration, secrets in the clear. */
export interface ConfigureRequest {
  readonly config: { get(key: string): string | undefined };
}

const ENDPOINT = "https://backboard.railway.com/graphql/v2";

/** The variables are those of Railway's own CLI: RAILWAY_TOKEN is a project token there. */
const SOURCES = [
  { kind: "account", key: "railway:token" },
  { kind: "project", key: "railway:projectToken" },
  { kind: "account", variable: "RAILWAY_API_TOKEN" },
  { kind: "project", variable: "RAILWAY_TOKEN" },
] as const;

/** Reads endpoint and token; the stack's configuration goes before the environment, and an empty value is none. */
export function readSettings(request: ConfigureRequest, environment = process.env): Settings {
  const candidates = SOURCES.map((source): RailwayToken => {
    const value = "key" in source ? request.config.get(source.key) : environment[source.variable];
    return { kind: source.kind, value: value?.trim() ?? "", from: "key" in source ? source.key : source.variable };
  });
  const endpoint = request.config.get("railway:endpoint") ?? environment["RAILWAY_ENDPOINT"];
  return { endpoint: endpoint || ENDPOINT, token: candidates.find(({ value }) => value !== "") };
}

/** The header of this kind of token. Never both, and never an empty one, which Railway answers as a dead session. */
export function tokenHeader(token: RailwayToken | undefined): Record<string, string> {
  if (token === undefined) {
    throw new UserError(
      "Railway needs a token, and none is set. Make an account or workspace token (Railway: Account Settings > Tokens) and give it by " +
        "`pulumi config set --secret railway:token <token>` or RAILWAY_API_TOKEN. " +
        "For an existing project a project token (railway:projectToken or RAILWAY_TOKEN) will do.",
    );
  }
  return token.kind === "account"
    ? { authorization: `Bearer ${token.value}` }
    : { "project-access-token": token.value };
}
