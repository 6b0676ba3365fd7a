import { calculateJwkThumbprint, exportJWK, exportPKCS8, generateKeyPair, type JWK } from "jose";
import { z } from "zod";
import { checkFailure, checkInputs, configure, type Provider } from "./provider.ts";
import type { RetiredKey } from "./signingKey.ts";
import { lifetimeSeconds } from "./token.provider.ts";

export interface SigningKeyInputs {
  algorithm: "RS256" | "ES256";
  generation: number;
  tokenLifetimeSeconds: number;
}

export interface SigningKeyOutputs extends SigningKeyInputs {
  privateKey: string;
  kid: string;
  publicJwk: JWK;
  retired: RetiredKey[];
  /** The longest lifetime this key has signed with: a lowered setting does not shorten tokens already given out. */
  longestLifetimeSeconds: number;
  jwks: { keys: JWK[] };
}

const schema = z.object({
  algorithm: z.enum(["RS256", "ES256"], "must be RS256 or ES256"),
  generation: z.int("must be a whole number, 1 or more").min(1, "must be 1 or more"),
  tokenLifetimeSeconds: lifetimeSeconds,
});

async function makeKey(algorithm: "RS256" | "ES256") {
  const pair = await generateKeyPair(algorithm, { extractable: true, modulusLength: 2048 });
  const publicPart = await exportJWK(pair.publicKey);
  const kid = await calculateJwkThumbprint(publicPart);
  return {
    privateKey: await exportPKCS8(pair.privateKey),
    kid,
    publicJwk: { ...publicPart, kid, alg: algorithm, use: "sig" } as JWK,
  };
}

function isPast(key: RetiredKey): boolean {
  return Date.parse(key.until) <= Date.now();
}

function needsNewKey(olds: SigningKeyInputs, news: SigningKeyInputs): boolean {
  return olds.generation !== news.generation || olds.algorithm !== news.algorithm;
}

function publish(current: JWK, retired: RetiredKey[]): { keys: JWK[] } {
  return { keys: [current, ...retired.map((key) => key.jwk)] };
}

const signingKey: Provider<SigningKeyInputs, SigningKeyOutputs> = {
  configure,

  async check(olds, news) {
    const result = checkInputs(schema, news);
    if (typeof olds.generation === "number" && news.generation < olds.generation) {
      result.failures.push(
        checkFailure(
          `lakekeeper:auth.keyGeneration cannot go from ${olds.generation} back to ${news.generation}: that key is gone. ` +
            `Set it to ${olds.generation}, or higher to make a new one.`,
        ),
      );
    }
    return result;
  },

  async diff(_id, olds, news) {
    const past = olds.retired.filter(isPast);
    for (const { jwk, until } of past)
      console.log(`retired key ${jwk.kid} leaves the JWKS: its last token expired ${until}`);
    return {
      changes: past.length > 0 || needsNewKey(olds, news) || olds.tokenLifetimeSeconds !== news.tokenLifetimeSeconds,
    };
  },

  async create(inputs) {
    const key = await makeKey(inputs.algorithm);
    const outs = {
      ...inputs,
      ...key,
      retired: [],
      longestLifetimeSeconds: inputs.tokenLifetimeSeconds,
      jwks: publish(key.publicJwk, []),
    };
    return { id: "signing-key", outs };
  },

  async read(id, props) {
    return { id, props };
  },

  async update(_id, olds, news) {
    const kept = olds.retired.filter((key) => !isPast(key));
    if (!needsNewKey(olds, news)) {
      const longestLifetimeSeconds = Math.max(olds.longestLifetimeSeconds, news.tokenLifetimeSeconds);
      return {
        outs: { ...olds, ...news, longestLifetimeSeconds, retired: kept, jwks: publish(olds.publicJwk, kept) },
      };
    }
    const key = await makeKey(news.algorithm);
    const until = new Date(Date.now() + olds.longestLifetimeSeconds * 1000).toISOString();
    const retired = [{ jwk: olds.publicJwk, until }, ...kept];
    return {
      outs: {
        ...news,
        ...key,
        retired,
        longestLifetimeSeconds: news.tokenLifetimeSeconds,
        jwks: publish(key.publicJwk, retired),
      },
    };
  },

  /** The key lives in state alone. Its tokens die with it once the published documents no longer hold it. */
  async delete() {},
};

export default signingKey;
