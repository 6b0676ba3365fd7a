import { parseJson } from "../../clients/json.ts";
import { redact, secretsIn } from "../../clients/redact.ts";

test("secrets of a body are known by their names, at any depth", () => {
  const body = {
    name: "lakehouse",
    "storage-credential": { "access-key-id": "key-id", "secret-access-key": "hush-1", token: "hush-2", type: "s3" },
    list: [{ password: "hush-3" }],
  };
  expect(secretsIn(body)).toEqual(["hush-1", "hush-2", "hush-3"]);
  expect(secretsIn(undefined)).toEqual([]);
});

test("a text loses the secrets it is told, tokens and authorization headers", () => {
  const jwt = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl";
  expect(redact(`hush-1 was refused with ${jwt}, Bearer abcdefghijkl`, ["hush-1"])).toBe(
    "[secret] was refused with [token], Bearer [secret]",
  );
  expect(redact("s3 stays readable", ["s"])).toBe("s3 stays readable");
});

test("snapshot ids beyond 2^53 are not rounded, other numbers stay numbers", () => {
  expect(parseJson('{"id":5832468467513096781,"small":3,"share":0.5,"huge":1e300}')).toEqual({
    id: 5832468467513096781n,
    small: 3,
    share: 0.5,
    huge: 1e300,
  });
});
