import { rotationOf } from "../../tools/rotation.ts";

test.each([
  ["r2", "none", { raise: "lakekeeper:r2TokenGeneration" }],
  ["jwt", "bootstrap-token", { raise: "lakekeeper:auth.keyGeneration" }],
  ["tokens", "bootstrap-token", { replace: "**lakekeeper:Token::*" }],
  ["tokens", "oidc", { replace: "**lakekeeper:OidcToken::*" }],
] as const)("%s of a stack in the mode %s", (what, mode, rotation) => {
  expect(rotationOf(what, mode)).toEqual(rotation);
});

test.each([
  ["jwt", "oidc", /auth\.mode is oidc, so the keys are the OpenID provider's.* WHAT=tokens renews the tokens/],
  ["jwt", "none", /auth\.mode is none, so that nobody is asked for a token/],
  ["tokens", "none", /auth\.mode is none, so that nobody is asked for a token/],
] as const)("%s of a stack in the mode %s is refused", (what, mode, words) => {
  expect(() => rotationOf(what, mode)).toThrow(words);
});
