import type { IncomingMessage } from "node:http";
import { secretAccessKey, tokenGrants, type AccountToken } from "./accountTokens.ts";
import { S3Error } from "./errors.ts";
import type { AccessRequest, Grant } from "./permissions.ts";
import type { Signature } from "./sigv4.ts";
import { openSession, type Account } from "./temporaryCredentials.ts";

/** Who signed a request. */
export interface Identity {
  /** Signs chunks of a body as it signed the request. */
  secret: string;
  grants: Grant[];
  /** The API token, when the request was signed with it and not with a temporary credential. */
  token?: AccountToken;
}

/**
 * Finds the secret that belongs to a signature's access key.
 *
 * @throws S3Error Unauthorized for an unknown key, InvalidToken or ExpiredToken for a bad session
 */
export function identify(account: Account, signature: Signature, request: IncomingMessage, now: number): Identity {
  const { accessKeyId, sessionToken } = signature;
  if (sessionToken !== undefined) {
    return openSession(account, accessKeyId, sessionToken, request.headers.host ?? "", now);
  }
  const token = account.tokens.find(accessKeyId);
  if (token === undefined) throw new S3Error("Unauthorized");
  return { secret: secretAccessKey(token), grants: tokenGrants(token), token };
}

/** @throws S3Error AccessDenied */
export function authorize(identity: Identity, request: AccessRequest): void {
  if (!identity.grants.every((grant) => grant(request))) throw new S3Error("AccessDenied");
}
