import { WorkerThread } from "../../emulators/cloudflare/workerThread.ts";
import { type Declared, dependencies, runMocked, settle } from "../support/mockedProgram.ts";

// The Worker that publishes the issuer's documents, as the program declares it, and what its script answers.

const key = { kty: "EC", kid: "k1", alg: "ES256", use: "sig", crv: "P-256", x: "x", y: "y" };

async function issuer(place: object = { workersSubdomain: "acme" }) {
  const { declared, program } = await runMocked(async () => {
    const { WorkerIssuer } = await import("../../components/workerIssuer.ts");
    return new WorkerIssuer("issuer", { accountId: "a1", jwks: { keys: [key] }, ...place });
  });
  return { declared, issuer: program };
}

const found = (declared: Declared[], type: string): Declared => declared.find((one) => one.type === type)!;

/** What the script answers where Workers run. */
async function ask(declared: Declared[], path: string, method = "GET"): Promise<{ status: number; body: string }> {
  const content = (await settle(found(declared, "WorkersScript").inputs["content"])).value as string;
  const worker = await WorkerThread.start({ content, metadata: {} });
  const url = `https://worker.example${path}`;
  const answer = await worker.fetch({ method, url, headers: [], body: new Uint8Array() });
  await worker.stop();
  return { status: answer.status, body: Buffer.from(answer.body).toString() };
}

test("its address is that of the account, and every token's issuer", async () => {
  const { declared, issuer: made } = await issuer();
  const url = "https://lakekeeper-local-issuer.acme.workers.dev";
  expect((await settle(made.url)).value).toBe(url);
  expect((await settle(made.providerUri)).value).toBe(url);
  expect(found(declared, "WorkersScript").inputs).toMatchObject({
    accountId: "a1",
    scriptName: "lakekeeper-local-issuer",
    observability: { enabled: false },
  });
});

test("Workers may be served elsewhere", async () => {
  const { issuer: made } = await issuer({ workersUrl: "http://127.0.0.1:1002/-/workers" });
  expect((await settle(made.url)).value).toBe("http://127.0.0.1:1002/-/workers/lakekeeper-local-issuer");
});

test("at a domain of one's own it is not on workers.dev, and counts as published once it is seen there", async () => {
  const workersDomain = { hostname: "issuer.example.com", zoneId: "z1" };
  const { declared, issuer: made } = await issuer({ workersDomain });
  expect((await settle(made.url)).value).toBe("https://issuer.example.com");
  expect(declared.map(({ type }) => type)).not.toContain("WorkersScriptSubdomain");
  const domain = found(declared, "WorkersCustomDomain");
  expect(domain.inputs).toMatchObject({ accountId: "a1", ...workersDomain });
  expect((await settle(domain.inputs["service"])).value).toBe("lakekeeper-local-issuer");
  expect(domain.options.replaceOnChanges).toEqual(["hostname", "zoneId"]);
  expect(dependencies(found(declared, "PublishedIssuer"))).toEqual([
    "WorkersScript issuer",
    "WorkersCustomDomain issuer-domain",
  ]);
});

test("its script answers the two documents and nothing else", async () => {
  const { declared } = await issuer();
  const url = "https://lakekeeper-local-issuer.acme.workers.dev";
  const discovery = await ask(declared, "/.well-known/openid-configuration");
  expect(discovery.status).toBe(200);
  expect(JSON.parse(discovery.body)).toMatchObject({ issuer: url, jwks_uri: `${url}/jwks.json` });
  expect(JSON.parse((await ask(declared, "/jwks.json?x=1")).body)).toEqual({ keys: [key] });
  expect((await ask(declared, "/toString")).status).toBe(404);
  expect((await ask(declared, "/jwks.json", "POST")).status).toBe(405);
});

test("it counts as published once it was seen to be", async () => {
  const { declared, issuer: made } = await issuer();
  const published = found(declared, "PublishedIssuer");
  expect(published.resource).toBe(made.published);
  expect(dependencies(published)).toEqual(["WorkersScript issuer", "WorkersScriptSubdomain issuer-subdomain"]);
});
