import { z } from "zod";
import { signJwt } from "../clients/token.ts";
import { checkInputs, configure, type Provider } from "./provider.ts";

export interface TokenInputs {
  subject: string;
  signingKey: string;
  kid: string;
  algorithm: "RS256" | "ES256";
  issuer: string;
  audience: string;
  lifetimeSeconds: number;
  renewBeforeSeconds: number;
}

export interface TokenOutputs extends TokenInputs {
  token: string;
  issuedAt: string;
  expiresAt: string;
}

const TEN_YEARS = 10 * 365 * 86400;

export const lifetimeSeconds = z
  .int("must be a whole number of seconds")
  .min(60, "must be 60 seconds or more")
  .max(TEN_YEARS, `must be ten years (${TEN_YEARS} seconds) or less`);

const text = z.string().min(1, "must not be empty");

const schema = z
  .object({
    subject: text,
    signingKey: z.string().startsWith("-----BEGIN PRIVATE KEY-----", "must be a private key in PKCS#8 PEM"),
    kid: text,
    algorithm: z.enum(["RS256", "ES256"], "must be RS256 or ES256"),
    issuer: z.url({ protocol: /^https?$/, error: "must be an http or https URL" }),
    audience: text,
    lifetimeSeconds,
    renewBeforeSeconds: z.int("must be a whole number of seconds").min(0, "must be 0 or more"),
  })
  .refine((inputs) => inputs.renewBeforeSeconds < inputs.lifetimeSeconds, {
    path: ["renewBeforeSeconds"],
    error: (issue) => {
      const { lifetimeSeconds } = issue.input as TokenInputs;
      return `must be less than lifetimeSeconds (${lifetimeSeconds})`;
    },
  });

/** What the token says and who signed it. Whatever differs here, the token at hand is the wrong one. */
const SIGNED = ["subject", "kid", "algorithm", "issuer", "audience", "lifetimeSeconds"] as const;

function renewalDue(expiresAt: string, renewBeforeSeconds: number): boolean {
  return Date.now() >= Date.parse(expiresAt) - renewBeforeSeconds * 1000;
}

function isRightToken(olds: TokenOutputs, news: TokenInputs): boolean {
  return SIGNED.every((name) => olds[name] === news[name]) && !renewalDue(olds.expiresAt, news.renewBeforeSeconds);
}

async function issue(inputs: TokenInputs): Promise<TokenOutputs> {
  const issuedAt = Math.floor(Date.now() / 1_000);
  const expiresAt = issuedAt + inputs.lifetimeSeconds;
  const token = await signJwt({ ...inputs, privateKey: inputs.signingKey }, { issuedAt, expiresAt });
  const iso = (seconds: number) => new Date(seconds * 1_000).toISOString();
  return { ...inputs, token, issuedAt: iso(issuedAt), expiresAt: iso(expiresAt) };
}

const token: Provider<TokenInputs, TokenOutputs> = {
  configure,

  async check(_olds, news) {
    return checkInputs(schema, news, { secrets: ["signingKey"] });
  },

  async diff(_id, olds, news) {
    if (renewalDue(olds.expiresAt, news.renewBeforeSeconds)) console.log(`renew: expires ${olds.expiresAt}`);
    return { changes: !isRightToken(olds, news) || olds.renewBeforeSeconds !== news.renewBeforeSeconds };
  },

  async create(inputs) {
    return { id: inputs.subject, outs: await issue(inputs) };
  },

  async read(id, props) {
    return { id, props };
  },

  async update(_id, olds, news) {
    return { outs: isRightToken(olds, news) ? { ...olds, ...news } : await issue(news) };
  },

  async delete(_id, props) {
    if (renewalDue(props.expiresAt, 0)) return;
    console.log(`${props.subject}'s token is valid until ${props.expiresAt}, unless its key ${props.kid} goes before`);
  },
};

export default token;
