import { request } from "undici";
import { RateLimit } from "../../../emulators/railway/rateLimit.ts";
import { eventually, refusal, worldIn } from "./emulatorWorld.ts";
import { startTestRailway, TOKEN, type TestRailway } from "./support.ts";

// What is around the API: bad requests, its counts, faults on demand, and limits.

let railway: TestRailway;

beforeEach(async () => {
  railway = await startTestRailway();
  await worldIn(railway);
});
afterEach(() => railway.stop());

describe("the API", () => {
  const ask = (body: string, headers: Record<string, string> = { authorization: `Bearer ${TOKEN}` }) =>
    request(railway.url, { method: "POST", headers: { "content-type": "application/json", ...headers }, body });

  test("tells its schema to anybody", async () => {
    const { body } = await railway.send({}, { query: "{ __schema { queryType { name } } }" });
    expect(body.data).toEqual({ __schema: { queryType: { name: "Query" } } });
  });

  test.each(["", "{", "[]", '{"query": 1}', '{"query": "query a { me { id } } query b { me { id } }"}'])(
    "refuses %j with 400",
    async (body) => {
      expect((await ask(body)).statusCode).toBe(400);
    },
  );

  test("has no pages from the end", async () => {
    expect(await refusal(railway.call("{ projects(last: 3) { edges { cursor } } }"))).toContain("use first and after");
  });

  test("hides what has gone wrong inside, and tells whoever runs it", async () => {
    const told = jest.spyOn(process.stderr, "write").mockImplementation(() => true);
    railway.account.project = () => {
      throw new TypeError("details");
    };
    const message = await refusal(railway.call('{ project(id: "x") { id } }'));
    expect(message).toBe("Problem processing request");
    expect(String(told.mock.calls[0]?.[0])).toContain("TypeError: details");
    told.mockRestore();
  });

  test("counts its calls by operation, and how many came at once", async () => {
    railway.faults.add("POST *, delay 50");
    await Promise.all([1, 2, 3].map(() => railway.call("{ me { id } apiToken { workspaces { id } } }")));
    const answer = await request(new URL("/-/calls", railway.url));
    const told = (await answer.body.json()) as { mostAtOnce: number; operations: Record<string, number> };
    expect(told.operations).toMatchObject({ "me,apiToken": 3, projectCreate: 1 });
    expect(told.mostAtOnce).toBe(3);
    expect(railway.calls.at(-1)?.operation).toBe("me,apiToken");
  });

  test("can be given faults while it runs, and refuses what is none", async () => {
    const put = (body: string) => request(new URL("/-/faults", railway.url), { method: "PUT", body });
    expect((await put("POST /graphql/v2/me, status 503, every 2\n")).statusCode).toBe(200);
    expect((await put("POST /graphql/v2/me, explode")).statusCode).toBe(400);
    const statuses = [];
    for (let count = 0; count < 4; count++) {
      const { statusCode, body } = await ask('{"query": "{ me { id } }"}');
      await body.dump();
      statuses.push(statusCode);
    }
    expect(statuses).toEqual([200, 503, 200, 503]);
    expect((await put("")).statusCode).toBe(200);
    expect((await ask('{"query": "{ me { id } }"}')).statusCode).toBe(200);
  });
});

test("calls beyond the limit of a second are told how long to wait", async () => {
  const limited = await startTestRailway({ rateLimits: { perSecond: 2 } });
  const call = () => limited.send({ authorization: `Bearer ${TOKEN}` }, { query: "{ me { id } }" });
  const answers = [await call(), await call(), await call()];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
  expect(answers[1]?.headers).toMatchObject({ "x-ratelimit-limit": "2", "x-ratelimit-remaining": "0" });
  expect(answers[2]?.headers).toMatchObject({ "retry-after": "1" });
  await eventually(async () => (await call()).status === 200 || undefined);
  await limited.stop();
});

test("a limit of an hour counts what was answered, and begins anew", () => {
  const limit = new RateLimit({ perSecond: 10, perHour: 2 });
  expect([0, 1, 2, 3].map((now) => limit.take(now)?.remaining)).toEqual([1, 0, -1, -1]);
  expect(limit.take(3_600_000)).toMatchObject({ limit: 2, remaining: 1, reset: 7_200_000 });
});
