import type { DatabaseSync } from "node:sqlite";
import { UserError } from "../../clients/errors.ts";
import { prepared } from "./database.ts";
import { bucketsGrant, permissionGrant, type Grant, type Permission } from "./permissions.ts";
import { sha256 } from "./sigv4.ts";

/** A Cloudflare API token for R2. As an S3 key pair it is its id, and the SHA-256 of its value in hex. */
export interface AccountToken {
  id: string;
  value: string;
  permission: Permission;
  /** The only buckets it reaches; without it, all of the account's. */
  buckets?: readonly string[];
}

/** The API tokens of the account. A revoked id stays revoked, also after a restart. */
export class AccountTokens {
  readonly #tokens = new Map<string, AccountToken>();
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync, tokens: readonly AccountToken[]) {
    this.#database = database;
    for (const token of tokens) this.add(token);
  }

  add(token: AccountToken): void {
    if (!/^[0-9a-zA-Z]{32}$/.test(token.id)) {
      throw new UserError(
        `The id of an API token must be 32 letters or digits, as Cloudflare's are; "${token.id}" is not.`,
      );
    }
    this.#tokens.set(token.id, token);
  }

  revoke(id: string): void {
    this.#database.prepare("INSERT OR IGNORE INTO revoked_tokens VALUES (?)").run(id);
  }

  find(id: string): AccountToken | undefined {
    const isRevoked = prepared(this.#database, "SELECT 1 FROM revoked_tokens WHERE id = ?").get(id) !== undefined;
    return isRevoked ? undefined : this.#tokens.get(id);
  }

  findByValue(value: string): AccountToken | undefined {
    const match = [...this.#tokens.values()].find((token) => token.value === value);
    return match && this.find(match.id);
  }
}

export function secretAccessKey(token: AccountToken): string {
  return sha256(token.value);
}

export function tokenGrants({ permission, buckets }: AccountToken): Grant[] {
  return [permissionGrant(permission), ...(buckets === undefined ? [] : [bucketsGrant(buckets)])];
}
