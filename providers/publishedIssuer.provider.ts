import { isDeepStrictEqual } from "node:util";
import type { JWK } from "jose";
import { request } from "undici";
import { z } from "zod";
import { type Look, waitFor } from "../clients/retry.ts";
import { checkInputs, configure, type Provider } from "./provider.ts";

export interface PublishedIssuerState {
  url: string;
  jwks: { keys: JWK[] };
  timeoutSeconds: number;
}

const schema = z.object({
  url: z.url({ protocol: /^https?$/, error: "must be the http(s) address of the issuer" }),
  jwks: z.object({ keys: z.array(z.looseObject({ kid: z.string() })).min(1, "must hold a key") }),
  timeoutSeconds: z.int().min(1, "must be 1 or more seconds"),
});

const discoverySchema = z.object({ issuer: z.string(), jwks_uri: z.url() });
const keysSchema = z.object({ keys: z.array(z.looseObject({ kid: z.string() })) });

/** A document, or what there is instead. */
async function read<T>(url: string, document: z.ZodType<T>): Promise<Look<T>> {
  try {
    const answer = await request(url, { signal: AbortSignal.timeout(10_000) });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) return { waiting: `GET ${url} answers ${answer.statusCode} ${text.slice(0, 200)}` };
    const parsed = document.safeParse(JSON.parse(text));
    return parsed.success ? { value: parsed.data } : { waiting: `GET ${url} answers another document` };
  } catch (error) {
    return { waiting: `GET ${url}: ${(error as Error).message}` };
  }
}

async function published({ url, jwks }: PublishedIssuerState): Promise<Look<true>> {
  const discovery = await read(`${url}/.well-known/openid-configuration`, discoverySchema);
  if ("waiting" in discovery) return discovery;
  const { issuer, jwks_uri: keysUri } = discovery.value;
  if (issuer !== url) return { waiting: `the discovery document there is that of ${issuer}` };
  const found = await read(keysUri, keysSchema);
  if ("waiting" in found) return found;
  const [are, shouldBe] = [found.value.keys, jwks.keys].map((keys) => keys.map(({ kid }) => kid).sort());
  if (isDeepStrictEqual(are, shouldBe)) return { value: true };
  return { waiting: `${keysUri} has the keys ${are!.join(", ")}, not ${shouldBe!.join(", ")}` };
}

async function untilPublished(inputs: PublishedIssuerState): Promise<void> {
  await waitFor(() => published(inputs), {
    what: `the issuer's documents at ${inputs.url}`,
    deadlineSeconds: inputs.timeoutSeconds,
    everyMilliseconds: 500,
    remedy:
      "Open that address: on workers.dev its second part is the account's own name, lakekeeper:auth.workersSubdomain; a " +
      "domain of one's own (lakekeeper:auth.workersDomain) waits for its certificate, minutes at most. Then run up again.",
  });
}

const publishedIssuer: Provider<PublishedIssuerState> = {
  configure,

  async check(_olds, news) {
    return checkInputs(schema, news);
  },

  async diff(_id, olds, news) {
    return { changes: olds.url !== news.url || !isDeepStrictEqual(olds.jwks, news.jwks) };
  },

  async create(inputs) {
    await untilPublished(inputs);
    return { id: inputs.url, outs: inputs };
  },

  async read(id, props) {
    return { id, props };
  },

  async update(_id, _olds, news) {
    await untilPublished(news);
    return { outs: news };
  },

  async delete() {},
};

export default publishedIssuer;
