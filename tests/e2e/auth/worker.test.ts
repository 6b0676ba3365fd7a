import { decodeProtectedHeader } from "jose";
import { request } from "undici";
import { readAccounts } from "../../../tools/accounts.ts";
import { type Checkout, makeCheckout, resourceCounts } from "../../support/checkout.ts";

// The issuer's documents on a Worker, on Railway's and Cloudflare's emulators: in this order, on one stack.

let checkout: Checkout;

beforeAll(async () => {
  checkout = await makeCheckout("dev");
});
afterAll(() => checkout.remove());

/** A document of the issuer, as anybody sees it. */
async function published<T>(path: string): Promise<T> {
  const { ports } = await readAccounts(checkout.state);
  const { body } = await request(`http://127.0.0.1:${ports.r2}/-/workers/lakekeeper-dev-issuer/${path}`);
  return (await body.json()) as T;
}

const kids = async (): Promise<(string | undefined)[]> =>
  (await published<{ keys: { kid?: string }[] }>("jwks.json")).keys.map(({ kid }) => kid);

async function config(token: string): Promise<number> {
  const { LAKEHOUSE_REST_URI: uri, LAKEHOUSE_REST_WAREHOUSE: warehouse } = await checkout.outputs();
  const headers = { authorization: `Bearer ${token}` };
  const answer = await request(`${String(uri)}/v1/config?warehouse=${String(warehouse)}`, { headers });
  await answer.body.dump();
  return answer.statusCode;
}

const karmaToken = async (): Promise<string> => String((await checkout.outputs())["karmaToken"]);

test("without authentication the stack is refused by the preview, since its catalog has a public address", async () => {
  await checkout.configure({ "lakekeeper:auth": { mode: "none" } });
  const { code, output } = await checkout.make("preview");
  expect(code).not.toBe(0);
  expect(output).toContain('lakekeeper:auth.mode is "none": on railway the catalog has a public address');
}, 600_000);

test("the documents are published, seen, and believed", async () => {
  await checkout.configure({});
  const { output } = await checkout.mustMake("up");
  expect(output).toMatch(/PublishedIssuer issuer-published created/);
  const token = await karmaToken();
  expect(await kids()).toEqual([decodeProtectedHeader(token).kid]);
  const discovery = await published<{ issuer: string; jwks_uri: string }>(".well-known/openid-configuration");
  expect(discovery.jwks_uri).toBe(`${discovery.issuer}/jwks.json`);
  expect(await config(token)).toBe(200);
}, 600_000);

test("a second up changes nothing, and neither does a refresh", async () => {
  expect(Object.keys(resourceCounts((await checkout.mustMake("up")).output))).toEqual(["unchanged"]);
  expect(Object.keys(resourceCounts((await checkout.mustMake("refresh")).output))).toEqual(["unchanged"]);
}, 600_000);

test("another key is published beside the one before, whose tokens go on being taken; nothing is deployed", async () => {
  const before = await karmaToken();
  await checkout.configure({ "lakekeeper:auth": { keyGeneration: 2 } });
  const { output } = await checkout.mustMake("up");
  expect(output).not.toMatch(/serve-deployment (updat|replac|creat)/);
  const after = await karmaToken();
  expect(await kids()).toEqual([after, before].map((token) => decodeProtectedHeader(token).kid));
  expect([await config(before), await config(after)]).toEqual([200, 200]);
}, 600_000);

test("a key that is replaced at once takes its tokens with it", async () => {
  const before = await karmaToken();
  await checkout.engine("up", "--yes", "--skip-preview", "--replace", "**::issuer-key");
  const after = await karmaToken();
  expect(await kids()).toEqual([decodeProtectedHeader(after).kid]);
  expect(await config(after)).toBe(200);
  expect(decodeProtectedHeader(after).kid).not.toBe(decodeProtectedHeader(before).kid);
}, 600_000);

test("down takes the Worker away", async () => {
  await checkout.mustMake("down");
  expect((await checkout.engine("stack", "export")).includes("WorkersScript")).toBe(false);
}, 600_000);
