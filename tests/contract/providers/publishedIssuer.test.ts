import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clock } from "../../../clients/retry.ts";
import { type Issuer, startIssuer } from "../../../emulators/issuer/server.ts";
import documents from "../../../providers/issuerDocuments.provider.ts";
import published from "../../../providers/publishedIssuer.provider.ts";

// Waiting for an issuer's documents, on a server that publishes them.

const key = { kty: "EC", kid: "k1", alg: "ES256" };
const { sleep, now } = clock;

let directory: string;
let issuer: Issuer;
let waits: number;
/** What happens while it is waited for. */
let meanwhile: () => Promise<unknown>;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "issuer-"));
  issuer = await startIssuer({ directory });
  waits = 0;
  meanwhile = async () => {};
  let time = 0;
  clock.now = () => time;
  clock.sleep = async (milliseconds) => {
    time += milliseconds;
    waits += 1;
    await meanwhile();
  };
});

afterEach(async () => {
  Object.assign(clock, { sleep, now });
  await issuer.close();
  await rm(directory, { recursive: true });
});

const inputs = (...kids: string[]) => ({
  url: issuer.url,
  jwks: { keys: kids.map((kid) => ({ ...key, kid })) },
  timeoutSeconds: 5,
});
const publish = (...kids: string[]) => documents.create({ directory, issuer: issuer.url, jwks: inputs(...kids).jwks });

test("goes on at once when they are there", async () => {
  await publish("k1");
  expect(await published.create(inputs("k1"))).toEqual({ id: issuer.url, outs: inputs("k1") });
  expect(waits).toBe(0);
});

test("waits until they are there, and until a new key is", async () => {
  meanwhile = () => publish("k1");
  const { id, outs } = await published.create(inputs("k1"));
  expect(waits).toBe(1);
  expect(await published.diff(id, outs, inputs("k1"))).toEqual({ changes: false });
  expect(await published.diff(id, outs, inputs("k2", "k1"))).toEqual({ changes: true });
  meanwhile = () => publish("k1", "k2");
  await published.update(id, outs, inputs("k2", "k1"));
  expect(waits).toBe(2);
});

test.each([
  ["nothing there", async () => {}, /answers 404/],
  ["a key too few", () => publish("k0"), /jwks\.json has the keys k0, not k1/],
  [
    "another issuer's documents",
    () => documents.create({ directory, issuer: "https://id.example.com", jwks: inputs("k1").jwks }),
    /the discovery document there is that of https:\/\/id\.example\.com/,
  ],
  ["nobody there", () => issuer.close(), /ECONNREFUSED/],
])("gives up with the reason: %s", async (_what, state: () => Promise<unknown>, reason) => {
  await state();
  const attempt = published.create(inputs("k1"));
  await expect(attempt).rejects.toThrow(reason);
  await expect(attempt).rejects.toThrow("lakekeeper:auth.workersSubdomain");
});
