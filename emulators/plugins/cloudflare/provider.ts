import {
  reveal,
  secret,
  type CheckFailure,
  type ConfigRequest,
  type DiffResponse,
  type Properties,
} from "../protocol.ts";
import { CloudflareApi, type Credentials } from "./api.ts";

/** What the stand-in takes from the engine's environment, as the real plugin does. */
export type Environment = Readonly<Record<string, string | undefined>>;

const known = ["apiKey", "apiToken", "apiUserServiceKey", "baseUrl", "email", "userAgentOperatorSuffix", "version"];

const secrets = ["apiKey", "apiToken", "apiUserServiceKey"];

export function withSecrets(news: Properties): Properties {
  const entries = Object.entries(reveal(news) as Properties);
  return Object.fromEntries(entries.map(([name, value]) => [name, secrets.includes(name) ? secret(value) : value]));
}

export function providerFailures({ name, news }: ConfigRequest): CheckFailure[] {
  const { apiToken, ...others } = reveal(news) as Properties;
  const unknown = Object.keys(others).filter((each) => !known.includes(each));
  const failures = unknown.map((each) => ({
    reason: `could not validate provider configuration: Unsupported Attribute. There is no attribute ${each}. Examine values at '${name}.${each}'.`,
  }));
  if (typeof apiToken !== "string" || /^[0-9A-Za-z\-_]{40,80}$/.test(apiToken)) return failures;
  const rule = "API tokens must only contain characters a-z, A-Z, 0-9, hyphens and underscores.";
  return [
    ...failures,
    {
      reason: `could not validate provider configuration: Invalid Attribute Value. Attribute api_token ${rule} Examine values at '${name}.apiToken'.`,
    },
  ];
}

/** Every change of the provider is an update in place. */
export function providerDiff({ olds, news }: ConfigRequest): DiffResponse {
  const [before, after] = [reveal(olds) as Properties, reveal(news) as Properties];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  const changed = names.filter((name) => before[name] !== after[name]);
  if (changed.length === 0) return {};
  const detail = (name: string): NonNullable<DiffResponse["detailedDiff"]>[string] => {
    if (before[name] === undefined) return { inputDiff: true };
    return { kind: after[name] === undefined ? "DELETE" : "UPDATE", inputDiff: true };
  };
  return { detailedDiff: Object.fromEntries(changed.map((name) => [name, detail(name)])), hasDetailedDiff: true };
}

export function configuredApi(args: Properties, environment: Environment, patience: number): CloudflareApi {
  const { apiToken, apiKey, email, baseUrl } = reveal(args) as Credentials & { baseUrl?: string };
  const fromEnvironment =
    apiKey === undefined && apiToken === undefined
      ? {
          apiToken: environment["CLOUDFLARE_API_TOKEN"],
          apiKey: environment["CLOUDFLARE_API_KEY"],
        }
      : { apiToken, apiKey };
  return new CloudflareApi({
    baseUrl: baseUrl ?? environment["CLOUDFLARE_BASE_URL"] ?? "https://api.cloudflare.com/client/v4",
    credentials: { ...fromEnvironment, email: email ?? environment["CLOUDFLARE_EMAIL"] },
    patience,
  });
}
