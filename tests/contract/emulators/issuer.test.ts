import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JWK } from "jose";
import { signJwt } from "../../../clients/token.ts";
import { Faults } from "../../../emulators/faults.ts";
import { startIssuer, type Issuer } from "../../../emulators/issuer/server.ts";
import { Authenticator } from "../../../emulators/lakekeeper/auth/authenticator.ts";
import documents from "../../../providers/issuerDocuments.provider.ts";
import signingKey, { type SigningKeyOutputs } from "../../../providers/signingKey.provider.ts";

// What the catalog, which reads the issuer's documents, makes of an issuer that is not as it should be.

const audience = "lakekeeper";
const faults = new Faults();

let directory: string;
let issuer: Issuer;
let keys: SigningKeyOutputs[];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "issuer-"));
  issuer = await startIssuer({ directory, faults });
  keys = await Promise.all(
    (["RS256", "ES256", "ES256"] as const).map(async (algorithm) => {
      const { outs } = await signingKey.create({ algorithm, generation: 1, tokenLifetimeSeconds: 3600 });
      return outs;
    }),
  );
});
afterAll(async () => {
  await issuer.close();
  await rm(directory, { recursive: true });
});
beforeEach(() => publish(keys.map((key) => key.publicJwk)));
afterEach(() => faults.clear());

async function publish(jwks: JWK[]): Promise<void> {
  await documents.create({ directory, issuer: issuer.url, jwks: { keys: jwks } });
}

function discover(): Promise<Authenticator> {
  return Authenticator.discover({
    id: "oidc",
    required: true,
    providerUri: issuer.url,
    audience: [audience],
    additionalIssuers: [],
    subjectClaims: ["sub"],
    scope: undefined,
  });
}

async function bearer(key: SigningKeyOutputs, subject = "ml-runner"): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const { privateKey, kid, algorithm } = key;
  const of = { privateKey, kid, algorithm, issuer: issuer.url, audience, subject };
  return `Bearer ${await signJwt(of, { issuedAt: now, expiresAt: now + 60 })}`;
}

/** The user that a token of this key is taken for, or the type of the refusal. */
async function user(authenticator: Authenticator, key: SigningKeyOutputs, subject = "ml-runner"): Promise<string> {
  return authenticator.authenticate(await bearer(key, subject)).then(
    ({ userId }) => userId,
    (error: { type: string }) => error.type,
  );
}

describe("several keys", () => {
  test("all count, of either kind, and no other", async () => {
    const [rsa, ec, other] = keys as [SigningKeyOutputs, SigningKeyOutputs, SigningKeyOutputs];
    await publish([rsa.publicJwk, ec.publicJwk]);
    const authenticator = await discover();
    expect(await user(authenticator, rsa)).toBe("oidc~ml-runner");
    expect(await user(authenticator, ec)).toBe("oidc~ml-runner");
    expect(await user(authenticator, other)).toBe("AuthenticationFailed");
    await publish(keys.map((key) => key.publicJwk));
    expect(await user(authenticator, other)).toBe("oidc~ml-runner");
  });
});

describe("discovery", () => {
  const path = "/.well-known/openid-configuration";

  test.each([
    ["an outage", "status 503", /: HTTP status 503$/],
    ["a refusal whose body is a good document", `status 404, body {"issuer":"x","jwks_uri":"y"}`, /: HTTP status 404$/],
    // Jest hides from the catalog what lies behind "fetch failed".
    ["a cut connection", "reset", /ECONNRESET|fetch failed/],
    ["a document that ends too early", 'body {"issuer": ', /JSON/],
    ["a document that is null", "body null", /missing field `issuer` or `jwks_uri`/],
    ["a document of something else", 'body {"keys": []}', /missing field `issuer` or `jwks_uri`/],
  ])("that meets %s keeps the catalog from starting, and says where and why", async (_what, fault, reason) => {
    faults.add(`GET ${path}, ${fault}`);
    const failure = await discover().then(String, (error: Error) => error.message);
    expect(failure).toContain(`Failed to fetch openid configuration from ${issuer.url}${path}`);
    expect(failure).toMatch(reason);
  });

  test("that is slow is waited for", async () => {
    faults.add(`GET *, delay 100`);
    expect(await user(await discover(), keys[0]!)).toBe("oidc~ml-runner");
  });

  test("that names another issuer makes every token a stranger's", async () => {
    const document = { issuer: "https://other.example", jwks_uri: `${issuer.url}/jwks.json` };
    faults.add(`GET ${path}, body ${JSON.stringify(document)}`);
    expect(await user(await discover(), keys[0]!)).toBe("AuthenticationFailed");
  });
});

test("faults reach a process through its environment, and a wrong one is named", async () => {
  const run = (fault: string) =>
    spawn("node", ["emulators/issuer/main.ts", "serve"], {
      env: { PATH: process.env["PATH"], ISSUER_DIR: directory, ISSUER_PORT: "0", ISSUER_FAULT: fault },
    });
  const child = run("GET /jwks.json, status 503");
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const { port } = JSON.parse(line.toString()) as { port: number };
  const statuses = await Promise.all(
    ["jwks.json", ".well-known/openid-configuration"].map(
      async (path) => (await fetch(`http://127.0.0.1:${port}/${path}`)).status,
    ),
  );
  child.kill("SIGTERM");
  await once(child, "exit");
  expect(statuses).toEqual([503, 200]);

  const wrong = run("GET /jwks.json, nonsense");
  const [message] = (await once(wrong.stderr, "data")) as [Buffer];
  expect(message.toString()).toMatch(/^The fault "GET \/jwks.json, nonsense" is wrong at "nonsense"/);
  expect(await once(wrong, "exit")).toEqual([1, null]);
});

describe("the keys", () => {
  test.each(["status 503", "reset", 'body {"keys": [', 'body {"keys": 1}'])(
    "that cannot be had (%s) refuse tokens until they can",
    async (fault) => {
      const authenticator = await discover();
      faults.add(`GET /jwks.json, ${fault}`);
      expect(await user(authenticator, keys[0]!)).toBe("AuthenticationFailed");
      faults.clear();
      expect(await user(authenticator, keys[0]!)).toBe("oidc~ml-runner");
    },
  );

  test("that were had once outlive an outage", async () => {
    await publish([keys[0]!.publicJwk]);
    const authenticator = await discover();
    expect(await user(authenticator, keys[0]!)).toBe("oidc~ml-runner");
    faults.add("GET *, reset");
    expect(await user(authenticator, keys[1]!)).toBe("AuthenticationFailed");
    expect(await user(authenticator, keys[0]!, "somebody-else")).toBe("oidc~somebody-else");
  });
});
