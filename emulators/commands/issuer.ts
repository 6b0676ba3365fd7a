import { join } from "node:path";
import { signJwt } from "../../clients/token.ts";
import documents from "../../providers/issuerDocuments.provider.ts";
import signingKey, { type SigningKeyOutputs } from "../../providers/signingKey.provider.ts";
import { Faults } from "../faults.ts";
import { startIssuer } from "../issuer/server.ts";
import { listening, readOptions, remember, remembered, type StandIn } from "./standIn.ts";

const lifetimeSeconds = 24 * 3600;
const audience = "lakekeeper";

/** An OpenID issuer with a key of its own, and a token that it has signed. */
export const issuer: StandIn = {
  async start(args) {
    const { directory, port, faults, own } = readOptions("issuer", 9001, args, {
      subject: { type: "string", default: "developer" },
      rotate: { type: "boolean", default: false },
      log: { type: "string" },
    });
    const key = await readKey(join(directory, "signing-key.json"), own.rotate === true);
    // What is published is a folder of its own, so that the private key is not.
    const published = join(directory, "published");
    const requestLog = own.log;
    const running = await listening(
      port,
      startIssuer({
        directory: published,
        port,
        faults: new Faults(faults),
        ...(requestLog !== undefined && { requestLog }),
      }),
    );
    await documents.create({ directory: published, issuer: running.url, jwks: key.jwks });
    const subject = own.subject;
    const issuedAt = Math.floor(Date.now() / 1000);
    const { privateKey, kid, algorithm } = key;
    const token = await signJwt(
      { privateKey, kid, algorithm, issuer: running.url, audience, subject },
      { issuedAt, expiresAt: issuedAt + lifetimeSeconds },
    );
    const text = `OpenID issuer on ${running.url}, kept in ${directory}

  discovery     ${running.url}/.well-known/openid-configuration
  keys          ${running.url}/jwks.json   (${key.jwks.keys.length}; ${kid} signs)
  private key   in ${join(directory, "signing-key.json")}

A token for ${subject}, good for a day:
  ${token}

Lakekeeper:
  LAKEKEEPER__OPENID_PROVIDER_URI=${running.url} LAKEKEEPER__OPENID_AUDIENCE=${audience} LAKEKEEPER__OPENID_SUBJECT_CLAIM=sub
  or  node emulators/main.ts lakekeeper --issuer ${running.url}
`;
    return { text, close: () => running.close() };
  },
};

async function readKey(file: string, rotate: boolean): Promise<SigningKeyOutputs> {
  const inputs = { algorithm: "RS256", tokenLifetimeSeconds: lifetimeSeconds } as const;
  const key = await remembered(file, async () => (await signingKey.create({ ...inputs, generation: 1 })).outs);
  if (!rotate) return key;
  const { outs } = await signingKey.update("signing-key", key, { ...inputs, generation: key.generation + 1 });
  await remember(file, outs);
  return outs;
}
