import { UserError } from "../clients/errors.ts";

/** What can be renewed: the R2 token that Lakekeeper mints from, the key that signs tokens, the tokens themselves. */
export const WHAT = ["r2", "jwt", "tokens"] as const;
export type What = (typeof WHAT)[number];

/** How one of them is renewed: by a setting that is counted up, or by resources that are replaced. */
export type Rotation = { readonly raise: string } | { readonly replace: string };

/**
 * @param mode the stack's `lakekeeper:auth.mode`
 * @throws UserError for what a stack in that mode does not have
 */
export function rotationOf(what: What, mode: string): Rotation {
  const refuse = (why: string): never => {
    throw new UserError(`WHAT=${what} renews nothing here: lakekeeper:auth.mode is ${mode}, ${why}`);
  };
  switch (what) {
    case "r2":
      return { raise: "lakekeeper:r2TokenGeneration" };
    case "jwt":
      if (mode === "oidc")
        refuse("so the keys are the OpenID provider's, and are renewed there. WHAT=tokens renews the tokens.");
      if (mode === "none") refuse("so that nobody is asked for a token.");
      return { raise: "lakekeeper:auth.keyGeneration" };
    case "tokens":
      if (mode === "none") refuse("so that nobody is asked for a token.");
      return { replace: `**lakekeeper:${mode === "oidc" ? "OidcToken" : "Token"}::*` };
  }
}
