import { MockAgent } from "undici";
import type { HttpError } from "../../../clients/http.ts";
import { HttpClient, retryAfter, Unreachable, type HttpRequest } from "../../../clients/http.ts";
import { clock } from "../../../clients/retry.ts";

const BASE = "http://catalog.test";
const realSleep = clock.sleep;
let agent: MockAgent;
let slept: number[];

beforeEach(() => {
  agent = new MockAgent();
  agent.disableNetConnect();
  slept = [];
  clock.sleep = async (milliseconds) => void slept.push(milliseconds);
});
afterEach(async () => {
  clock.sleep = realSleep;
  await agent.close();
});

const client = (attempts = 6) =>
  new HttpClient({
    service: "Lakekeeper",
    baseUrl: `${BASE}/`,
    dispatcher: agent,
    attempts,
    authorization: async () => "Bearer token-of-the-test",
  });
const answers = (method: string, ...replies: [status: number, body?: string, headers?: Record<string, string>][]) => {
  for (const [status, body = "", headers = { "content-type": "application/json" }] of replies) {
    agent.get(BASE).intercept({ path: "/x", method }).reply(status, body, { headers });
  }
};
const get: HttpRequest = { method: "GET", path: "/x" };
const post: HttpRequest = { method: "POST", path: "/x", body: { "secret-access-key": "hush-hush" } };
const failure = (request: HttpRequest, attempts?: number): Promise<HttpError> =>
  client(attempts)
    .request(request)
    .then(
      () => Promise.reject(new Error("it did not fail")),
      (error: HttpError) => error,
    );

test("JSON is parsed, an empty answer is none", async () => {
  answers("GET", [200, '{"a":1}'], [204]);
  expect((await client().request(get)).json).toEqual({ a: 1 });
  expect((await client().request(get)).json).toBeUndefined();
});

test.each([502, 503, 504, 408])("%i is tried again where that does no harm, with growing delays", async (status) => {
  answers("GET", [status], [status], [200, "{}"]);
  await client().request(get);
  expect(slept).toHaveLength(2);
  expect(slept[1]).toBeGreaterThan(slept[0]!);
});

test("a POST is not tried again, unless it may be repeated", async () => {
  answers("POST", [503], [503], [200, "{}"]);
  expect(await failure(post)).toMatchObject({ status: 503 });
  expect((await client().request({ ...post, repeatable: true })).status).toBe(200);
});

test("429 is tried again for every method, after as long as the server asks", async () => {
  answers("POST", [429, "", { "retry-after": "7" }], [200, "{}"]);
  await client().request(post);
  expect(slept).toEqual([7_000]);
  expect(retryAfter("3600")).toBe(60_000);
  expect(retryAfter("soon")).toBeUndefined();
});

test("other refusals are passed on at once, with what the server says", async () => {
  const body = { error: { message: "No such table", type: "NoSuchTableException", code: 404, stack: ["Error ID: 1"] } };
  answers("GET", [404, JSON.stringify(body)]);
  const error = await failure(get);
  expect(error).toMatchObject({ status: 404, type: "NoSuchTableException", said: "No such table (Error ID: 1)" });
  expect(error.message).toBe(
    "Lakekeeper at http://catalog.test, GET /x: 404 NoSuchTableException - No such table (Error ID: 1)",
  );
  expect(error.stack).toBe(error.message);
});

test("an error in plain text or without a body is told as it is", async () => {
  answers("POST", [422, "missing field `name`", { "content-type": "text/plain" }], [500, "", {}]);
  expect((await failure(post)).message).toMatch(/: 422 - missing field `name`$/);
  expect((await failure(post)).message).toMatch(/POST \/x: 500$/);
});

test("no message shows a secret of the request or the token", async () => {
  const echo = { error: { message: "refused hush-hush of token-of-the-test", type: "Bad", code: 400 } };
  answers("POST", [400, JSON.stringify(echo)]);
  expect((await failure(post)).message).toMatch(/refused \[secret\] of \[secret\]$/);
});

test("a refused connection is tried again for every method, since nothing was sent", async () => {
  const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
  agent.get(BASE).intercept({ path: "/x", method: "POST" }).replyWithError(refused).times(2);
  answers("POST", [200, "{}"]);
  expect((await client().request(post)).status).toBe(200);
  expect(slept).toHaveLength(2);
});

test("a connection that breaks is tried again only where that does no harm", async () => {
  const reset = Object.assign(new Error("other side closed"), { code: "UND_ERR_SOCKET" });
  agent.get(BASE).intercept({ path: "/x", method: "POST" }).replyWithError(reset);
  const error = await failure(post);
  expect(error).toBeInstanceOf(Unreachable);
  expect(error).toMatchObject({ sent: true });
  expect(error.message).toMatch(/other side closed\. Check that it runs/);

  agent.get(BASE).intercept({ path: "/x", method: "GET" }).replyWithError(reset).times(3);
  expect(await failure(get, 3)).toBeInstanceOf(Unreachable);
  expect(slept).toHaveLength(2);
});
