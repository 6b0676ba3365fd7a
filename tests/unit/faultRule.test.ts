import { faultGrammar, parseFault } from "../../emulators/faultRule.ts";

describe("a fault rule", () => {
  test("says what happens, when and how often", () => {
    expect(parseFault("PUT /lakehouse/*, after, reset, every 3")).toMatchObject({
      name: "PUT /lakehouse/*, after, reset, every 3",
      when: "after",
      delayMilliseconds: 0,
      outcome: "reset",
      every: 3,
      first: Infinity,
    });
    expect(parseFault("* *, status 503, delay 20, first 2")).toMatchObject({
      when: "before",
      delayMilliseconds: 20,
      outcome: { status: 503 },
      every: 1,
      first: 2,
    });
    expect(parseFault("GET /x, delay 20").outcome).toBeUndefined();
  });

  test("ends with a body that may hold commas", () => {
    const { outcome, name } = parseFault('GET /jwks.json, first 1, body {"keys": [], "x": 1');
    expect([outcome, name]).toEqual([{ status: 200, body: '{"keys": [], "x": 1' }, "GET /jwks.json, first 1"]);
    expect(parseFault("GET /x, status 502, body no").outcome).toEqual({ status: 502, body: "no" });
  });

  test.each([
    ["PUT /b/*", "PUT", "/b/k/l?x=1", true],
    ["PUT /b/*", "GET", "/b/k", false],
    ["PUT /b/*", "PUT", "/c/b/k", false],
    ["* *.json", "DELETE", "/b/v1.metadata.json", true],
    ["* *.json", "GET", "/b/v1-metadata-json", false],
    ["* *", "GET", "/", true],
    ["POST /b/*?uploads*", "POST", "/b/k?uploads=", true],
    ["POST /b/*?uploads*", "POST", "/b/k?uploadId=1", false],
  ])("%s matches %s %s: %s", (target, method, url, expected) => {
    expect(parseFault(`${target}, reset`).matches(method, url)).toBe(expected);
  });

  test.each([
    ["", '""'],
    ["/x, reset", '"/x"'],
    ["get /x, reset", '"get /x"'],
    ["GET x, reset", '"GET x"'],
    ["GET /x", '"GET /x"'],
    ["GET /x, after, every 2", "says nothing"],
    ["GET /x, restart", '"restart"'],
    ["GET /x, status", '"status"'],
    ["GET /x, status 5x3", '"status 5x3"'],
    ["GET /x, status 99", '"status 99"'],
    ["GET /x, reset 3", '"reset 3"'],
    ["GET /x, reset, every 0", '"every 0"'],
    ["GET /x, delay 1, delay 2", "twice"],
    ["GET /x, before, after, reset", "before or after"],
    ["GET /x, reset, status 500", "has no answer"],
  ])("that is wrong is refused where it is wrong: %s", (rule, expected) => {
    expect(() => parseFault(rule)).toThrow(expected);
    expect(() => parseFault(rule)).toThrow(faultGrammar);
  });
});
