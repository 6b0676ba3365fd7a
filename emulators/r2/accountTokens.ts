import type { DatabaseSync } from "node:sqlite";
import { UserError } from "../../clients/errors.ts";
import { prepared } from "./database.ts";
import { bucketsGrant, permissionGrant, type Grant, type Permission } from "./permissions.ts";
import { sha256 } from "./sigv4.ts";

/** A Cloudflare API token. As an S3 key pair it is its id, and the SHA-256 of its value in hex. */
export interface AccountToken {
  id: string;
  value: string;
  /** What it may do as an S3 key; without it, nothing. */
  permission?: Permission | undefined;
  /** The only buckets it reaches; without it, all of the account's. */
  buckets?: readonly string[];
  /** The names of its permission groups in Cloudflare's API; without it, those that go with its permission. */
  groups?: readonly string[];
  disabled?: boolean;
  /** Milliseconds since 1970. */
  notBefore?: number;
  expires?: number;
}

/** A token that was made through the API, with what the API says of it. */
export interface StoredToken {
  value: string;
  document: object;
}

/** The API tokens of the account: those it was started with, and those made since. A revoked id stays revoked. */
export class AccountTokens {
  readonly #given = new Map<string, AccountToken>();
  readonly #database: DatabaseSync;
  readonly #now: () => number;

  constructor(database: DatabaseSync, tokens: readonly AccountToken[], now: () => number) {
    this.#database = database;
    this.#now = now;
    for (const token of tokens) this.add(token);
  }

  add(token: AccountToken): void {
    if (!/^[0-9a-zA-Z]{32}$/.test(token.id)) {
      throw new UserError(
        `The id of an API token must be 32 letters or digits, as Cloudflare's are; "${token.id}" is not.`,
      );
    }
    this.#given.set(token.id, token);
  }

  /** Makes a token, or changes the one of the same id, for as long as the folder is kept. */
  save(token: AccountToken, document: object): void {
    this.#database
      .prepare("INSERT OR REPLACE INTO account_tokens (id, value, token, document) VALUES (?, ?, ?, ?)")
      .run(token.id, token.value, JSON.stringify(token), JSON.stringify(document));
  }

  stored(id: string): StoredToken | undefined {
    const row = this.#database.prepare("SELECT value, document FROM account_tokens WHERE id = ?").get(id);
    return row && { value: String(row["value"]), document: JSON.parse(String(row["document"])) as object };
  }

  documents(): object[] {
    const rows = this.#database.prepare("SELECT document FROM account_tokens ORDER BY rowid").all();
    return rows.map((row) => JSON.parse(String(row["document"])) as object);
  }

  /** Returns false when there was no such token. */
  revoke(id: string): boolean {
    const { changes } = this.#database.prepare("DELETE FROM account_tokens WHERE id = ?").run(id);
    const isKnown = changes === 1 || this.find(id) !== undefined;
    this.#database.prepare("INSERT OR IGNORE INTO revoked_tokens VALUES (?)").run(id);
    return isKnown;
  }

  /** Undefined also for a token that is not good now. */
  find(id: string): AccountToken | undefined {
    const isRevoked = prepared(this.#database, "SELECT 1 FROM revoked_tokens WHERE id = ?").get(id) !== undefined;
    const token = isRevoked ? undefined : (this.#given.get(id) ?? this.#made("id", id));
    return token !== undefined && this.#isGood(token) ? token : undefined;
  }

  findByValue(value: string): AccountToken | undefined {
    const given = [...this.#given.values()].find((token) => token.value === value);
    const id = given?.id ?? this.#made("value", value)?.id;
    return id === undefined ? undefined : this.find(id);
  }

  #made(column: "id" | "value", value: string): AccountToken | undefined {
    const row = prepared(this.#database, `SELECT token FROM account_tokens WHERE ${column} = ?`).get(value);
    return row && (JSON.parse(String(row["token"])) as AccountToken);
  }

  #isGood({ disabled = false, notBefore = -Infinity, expires = Infinity }: AccountToken): boolean {
    const now = this.#now();
    return !disabled && notBefore <= now && now < expires;
  }
}

export function secretAccessKey(token: Pick<AccountToken, "value">): string {
  return sha256(token.value);
}

export function tokenGrants({ permission, buckets }: AccountToken): Grant[] {
  if (permission === undefined) return [() => false];
  return [permissionGrant(permission), ...(buckets === undefined ? [] : [bucketsGrant(buckets)])];
}
