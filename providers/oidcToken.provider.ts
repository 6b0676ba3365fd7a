import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { UserError } from "../clients/errors.ts";
import { type ClientCredentials, obtainToken } from "../clients/openId.ts";
import { accessToken, clientCredentialsSchema } from "../clients/token.ts";
import { checkFailure, checkInputs, configure, hasUnknown, type Provider } from "./provider.ts";

export interface OidcTokenInputs {
  client: ClientCredentials;
  renewBeforeSeconds: number;
}

export interface OidcTokenOutputs extends OidcTokenInputs {
  token: string;
  issuedAt: string;
  expiresAt: string;
}

const schema = z.object({
  client: clientCredentialsSchema,
  renewBeforeSeconds: z.int("must be a whole number of seconds").min(0, "must be 0 or more"),
});

/** A provider chooses how long its tokens live, often an hour: a window of days would have every run renew them. */
function renewalDue(olds: OidcTokenOutputs, renewBeforeSeconds: number): boolean {
  const [issuedAt, expiresAt] = [olds.issuedAt, olds.expiresAt].map((text) => Date.parse(text)) as [number, number];
  const window = Math.min(renewBeforeSeconds * 1_000, (expiresAt - issuedAt) / 2);
  return Date.now() >= expiresAt - window;
}

function isRightToken(olds: OidcTokenOutputs, news: OidcTokenInputs): boolean {
  return isDeepStrictEqual(olds.client, news.client) && !renewalDue(olds, news.renewBeforeSeconds);
}

async function obtain(inputs: OidcTokenInputs): Promise<OidcTokenOutputs> {
  const { token, issuedAt, expiresAt } = await obtainToken(inputs.client);
  const iso = (seconds: number) => new Date(seconds * 1_000).toISOString();
  return { ...inputs, token, issuedAt: iso(issuedAt), expiresAt: iso(expiresAt) };
}

const oidcToken: Provider<OidcTokenInputs, OidcTokenOutputs> = {
  configure,

  /** Gets a token, so that a preview tells whatever the provider or Lakekeeper would refuse. */
  async check(_olds, news) {
    const result = checkInputs(schema, news, { secrets: ["client"] });
    if (result.failures.length > 0 || hasUnknown(news)) return result;
    try {
      await accessToken({ kind: "client-credentials", ...news.client });
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      result.failures.push(checkFailure(error.message));
    }
    return result;
  },

  async diff(_id, olds, news) {
    if (renewalDue(olds, news.renewBeforeSeconds)) console.log(`renew: expires ${olds.expiresAt}`);
    return { changes: !isRightToken(olds, news) || olds.renewBeforeSeconds !== news.renewBeforeSeconds };
  },

  async create(inputs) {
    return { id: inputs.client.subject, outs: await obtain(inputs) };
  },

  async read(id, props) {
    return { id, props };
  },

  async update(_id, olds, news) {
    return { outs: isRightToken(olds, news) ? { ...olds, ...news } : await obtain(news) };
  },

  async delete(_id, { client, expiresAt }) {
    if (Date.parse(expiresAt) <= Date.now()) return;
    console.log(
      `${client.subject}'s token is valid until ${expiresAt}; its client at ${client.issuerUrl} is left as it is`,
    );
  },
};

export default oidcToken;
