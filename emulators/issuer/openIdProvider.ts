import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { calculateJwkThumbprint, type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";

const { createServer } = process.getBuiltinModule("node:http");

/** What the provider knows and how it behaves; it may be changed while it runs. */
export interface OpenIdProviderBehaviour {
  /** Secrets of its clients by their ids. */
  clients: Record<string, string>;
  audience: string;
  /** What every token is granted. */
  scope?: string;
  lifetimeSeconds: number;
  /** Added to the clock that tokens are dated by. */
  clockSkewSeconds: number;
  /** The issuer that its discovery document names, in place of its own address. */
  namedIssuer?: string;
  /** How clients may show their secrets. */
  authenticationMethods: string[];
}

export interface OpenIdProvider extends OpenIdProviderBehaviour {
  readonly url: string;
  readonly port: number;
  /** How many tokens it has given. */
  readonly issued: number;
  /** Signs with another key from now on. The one before goes at once, and with it all that it has signed. */
  replaceKey(): Promise<void>;
  close(): Promise<void>;
}

interface Key {
  readonly jwk: JWK;
  readonly privateKey: CryptoKey;
}

/** An OpenID provider on loopback with discovery, a key set and the client-credentials grant (RFC 6749, section 4.4). */
export async function startOpenIdProvider(
  options: Pick<OpenIdProviderBehaviour, "clients"> & Partial<OpenIdProviderBehaviour> & { port?: number },
): Promise<OpenIdProvider> {
  let key = await makeKey();
  let issued = 0;
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => send(response, 500, { error: String(error) }));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;

  const provider: OpenIdProvider = {
    audience: "lakekeeper",
    lifetimeSeconds: 3_600,
    clockSkewSeconds: 0,
    authenticationMethods: ["client_secret_basic", "client_secret_post"],
    ...options,
    url,
    port,
    get issued() {
      return issued;
    },
    async replaceKey() {
      key = await makeKey();
    },
    async close() {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
  return provider;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    switch (`${request.method} ${request.url}`) {
      case "GET /.well-known/openid-configuration":
        return send(response, 200, {
          issuer: provider.namedIssuer ?? url,
          jwks_uri: `${url}/keys`,
          token_endpoint: `${url}/token`,
          token_endpoint_auth_methods_supported: provider.authenticationMethods,
        });
      case "GET /keys":
        return send(response, 200, { keys: [key.jwk] });
      case "GET /token":
        return send(response, 405, { error: "invalid_request" });
      case "POST /token":
        return giveToken(request, response);
      default:
        return send(response, 404, { error: "not_found" });
    }
  }

  async function giveToken(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = new URLSearchParams(await text(request));
    if (form.get("grant_type") !== "client_credentials") {
      return send(response, 400, { error: "unsupported_grant_type" });
    }
    const { method, id, secret } = credentialsOf(request, form);
    const known = Object.hasOwn(provider.clients, id) && provider.clients[id] === secret;
    if (!known || !provider.authenticationMethods.includes(method)) {
      return send(response, 401, { error: "invalid_client", error_description: "The client secret is invalid." });
    }
    const now = Math.floor(Date.now() / 1_000) + provider.clockSkewSeconds;
    const { audience, scope, lifetimeSeconds } = provider;
    const token = await new SignJWT({ client_id: id, ...(scope !== undefined && { scope }) })
      .setProtectedHeader({ alg: "ES256", kid: key.jwk.kid!, typ: "JWT" })
      .setIssuer(url)
      .setSubject(id)
      .setAudience(audience)
      .setIssuedAt(now)
      .setExpirationTime(now + lifetimeSeconds)
      .setJti(String(++issued))
      .sign(key.privateKey);
    send(response, 200, { access_token: token, token_type: "Bearer", expires_in: lifetimeSeconds });
  }
}

function credentialsOf(
  request: IncomingMessage,
  form: URLSearchParams,
): { method: string; id: string; secret: string } {
  const [, basic] = /^Basic (.+)$/.exec(request.headers.authorization ?? "") ?? [];
  if (basic === undefined) {
    return { method: "client_secret_post", id: form.get("client_id") ?? "", secret: form.get("client_secret") ?? "" };
  }
  const [id = "", secret = ""] = Buffer.from(basic, "base64").toString().split(":").map(decodeURIComponent);
  return { method: "client_secret_basic", id, secret };
}

async function makeKey(): Promise<Key> {
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const jwk = await exportJWK(publicKey);
  return { jwk: { ...jwk, kid: await calculateJwkThumbprint(jwk), alg: "ES256", use: "sig" }, privateKey };
}

function send(response: ServerResponse, status: number, document: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(document));
}
