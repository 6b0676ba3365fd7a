import { randomBytes } from "node:crypto";
import type { AccountToken } from "../r2/accountTokens.ts";
import { isoSeconds, readObject, type ApiCall, type Route } from "./call.ts";
import { CloudflareError } from "./errors.ts";
import { permissionGroups } from "./permissionGroups.ts";
import { invalid, readPolicies, rightsOf, type Policy } from "./policies.ts";

const read = ["Account API Tokens Read", "Account API Tokens Write"] as const;
const write = ["Account API Tokens Write"] as const;
const tokens = "/accounts/:account/tokens";

/** `verify` and `permission_groups` come first, because they would be ids of tokens too. */
export const tokenRoutes: readonly Route[] = [
  {
    name: "VerifyToken",
    method: "GET",
    path: `${tokens}/verify`,
    handle: ({ bearer }) => ({ id: bearer.id, status: "active" }),
  },
  {
    name: "ListPermissionGroups",
    method: "GET",
    path: `${tokens}/permission_groups`,
    permissions: read,
    handle: ({ query }) => listPermissionGroups(query.get("name"), query.get("scope")),
  },
  { name: "CreateToken", method: "POST", path: tokens, permissions: write, handle: createToken },
  {
    name: "ListTokens",
    method: "GET",
    path: tokens,
    permissions: read,
    handle: ({ account, now }) => account.tokens.documents().map((each) => shown(each as TokenDocument, now)),
  },
  {
    name: "GetToken",
    method: "GET",
    path: `${tokens}/:token`,
    permissions: read,
    handle: (call) => shown(requireToken(call), call.now),
  },
  { name: "UpdateToken", method: "PUT", path: `${tokens}/:token`, permissions: write, handle: updateToken },
  { name: "DeleteToken", method: "DELETE", path: `${tokens}/:token`, permissions: write, handle: deleteToken },
];

/** A token as the API shows it, in the order of its fields. */
interface TokenDocument {
  id: string;
  status: "active" | "disabled" | "expired";
  issued_on: string;
  modified_on: string;
  condition?: unknown;
  expires_on?: string;
  name: string;
  not_before?: string;
  policies: Policy[];
}

const fields = ["condition", "expires_on", "name", "not_before", "policies", "status"] as const;

function listPermissionGroups(name: string | null, scope: string | null): object {
  return permissionGroups.filter(
    (group) =>
      (name === null || group.name === name) && (scope === null || (group.scopes as readonly string[]).includes(scope)),
  );
}

/** The value is shown this once. */
function createToken(call: ApiCall): object {
  const id = randomBytes(16).toString("hex");
  const value = randomBytes(30).toString("base64url");
  const now = isoSeconds(call.now);
  const document = readDocument(call, { id, issued_on: now, modified_on: now });
  call.account.tokens.save(tokenOf(document, value), document);
  return { ...document, value };
}

function updateToken(call: ApiCall): object {
  const { id, issued_on } = requireToken(call);
  const document = readDocument(call, { id, issued_on, modified_on: isoSeconds(call.now) });
  const { value } = call.account.tokens.stored(id)!;
  call.account.tokens.save(tokenOf(document, value), document);
  return shown(document, call.now);
}

function deleteToken({ account, parameters: { token = "" } }: ApiCall): object {
  if (!account.tokens.revoke(token)) throw notFound();
  return { id: token };
}

function requireToken({ account, parameters: { token = "" } }: ApiCall): TokenDocument {
  const document = account.tokens.stored(token)?.document;
  if (document === undefined) throw notFound();
  return document as TokenDocument;
}

function notFound(): CloudflareError {
  return new CloudflareError(404, 1001, "Token not found");
}

function shown(document: TokenDocument, now: number): TokenDocument {
  const { expires_on: expires } = document;
  return expires !== undefined && Date.parse(expires) <= now ? { ...document, status: "expired" } : document;
}

function tokenOf({ id, policies, expires_on, not_before, status }: TokenDocument, value: string): AccountToken {
  return {
    id,
    value,
    ...rightsOf(policies),
    ...(status === "disabled" && { disabled: true }),
    ...(expires_on !== undefined && { expires: Date.parse(expires_on) }),
    ...(not_before !== undefined && { notBefore: Date.parse(not_before) }),
  };
}

function readDocument(
  call: ApiCall,
  { id, issued_on, modified_on }: Pick<TokenDocument, "id" | "issued_on" | "modified_on">,
): TokenDocument {
  const { name, policies, condition, status = "active", ...times } = readObject(call, fields);
  if (typeof name !== "string" || name === "" || name.length > 120)
    throw invalid("name must be a text of 1 to 120 characters");
  if (status !== "active" && status !== "disabled") throw invalid("status must be active or disabled");
  const read = readPolicies(policies, call.account.id);
  return {
    id,
    status,
    issued_on,
    modified_on,
    ...(condition !== undefined && { condition }),
    ...time("expires_on", times.expires_on),
    name,
    ...time("not_before", times.not_before),
    policies: read.map((policy) => ({ ...policy, id: randomBytes(16).toString("hex") })),
  };
}

function time<Name extends string>(name: Name, value: unknown): { [key in Name]?: string } {
  if (value === undefined) return {};
  if (typeof value !== "string" || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value))
    throw invalid(`${name} must be a time like 2027-01-31T12:00:00Z`);
  return { [name]: value } as { [key in Name]?: string };
}
