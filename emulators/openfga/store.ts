import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { openPrivateDatabase } from "../database.ts";
import { invalid } from "./errors.ts";
import type { AuthorizationModel, TupleKey } from "./model.ts";

export interface Store {
  readonly id: string;
  readonly name: string;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface StoredTuple extends TupleKey {
  readonly position: number;
  readonly written: string;
}

/** What happens to a tuple that is there already, or is not there. */
export type OnConflict = "error" | "ignore";

const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** A ULID: 48 bits of Unix milliseconds, then 80 random bits, so that ids sort by age. */
function ulid(): string {
  let number = (BigInt(Date.now()) << 80n) | BigInt(`0x${randomBytes(10).toString("hex")}`);
  let text = "";
  for (let index = 0; index < 26; index++, number >>= 5n) text = digits.charAt(Number(number & 31n)) + text;
  return text;
}

/** Stores with their models and tuples, in a database of its own; answers are given once they are in it. */
export class Stores {
  readonly #database: DatabaseSync;
  readonly #parsed = new Map<string, AuthorizationModel>();

  constructor(directory: string) {
    mkdirSync(directory, { recursive: true });
    this.#database = openPrivateDatabase(join(directory, "openfga.db"));
    this.#database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL;
      PRAGMA busy_timeout = 5000;
      PRAGMA foreign_keys = ON;
      CREATE TABLE IF NOT EXISTS stores (id TEXT PRIMARY KEY, name TEXT NOT NULL, created TEXT NOT NULL);
      CREATE TABLE IF NOT EXISTS models (
        id TEXT PRIMARY KEY,
        store TEXT NOT NULL REFERENCES stores ON DELETE CASCADE,
        body TEXT NOT NULL
      );
      CREATE TABLE IF NOT EXISTS tuples (
        position INTEGER PRIMARY KEY,
        store TEXT NOT NULL REFERENCES stores ON DELETE CASCADE,
        object TEXT NOT NULL,
        relation TEXT NOT NULL,
        user TEXT NOT NULL,
        written TEXT NOT NULL,
        UNIQUE (store, object, relation, user)
      );
      CREATE INDEX IF NOT EXISTS tuples_of_user ON tuples (store, user);
    `);
  }

  close(): void {
    this.#database.close();
  }

  /** Names need not be unique. */
  create(name: string): Store {
    const id = ulid();
    this.#database.prepare("INSERT INTO stores VALUES (?, ?, ?)").run(id, name, new Date().toISOString());
    return this.find(id)!;
  }

  find(id: string): Store | undefined {
    return this.#database
      .prepare("SELECT id, name, created AS created_at, created AS updated_at FROM stores WHERE id = ?")
      .get(id) as Store | undefined;
  }

  /** Oldest first, those after the id `after`. */
  list(name: string | undefined, after: string, limit: number): Store[] {
    return this.#database
      .prepare(
        `SELECT id, name, created AS created_at, created AS updated_at FROM stores
         WHERE id > ?1 AND (?2 IS NULL OR name = ?2) ORDER BY id LIMIT ?3`,
      )
      .all(after, name ?? null, limit) as unknown as Store[];
  }

  remove(id: string): void {
    this.#database.prepare("DELETE FROM stores WHERE id = ?").run(id);
  }

  addModel(store: string, model: AuthorizationModel): string {
    const id = ulid();
    this.#database.prepare("INSERT INTO models VALUES (?, ?, ?)").run(id, store, JSON.stringify(model));
    return id;
  }

  /** Newest first. */
  models(store: string): { id: string; model: AuthorizationModel }[] {
    const rows = this.#database.prepare("SELECT id, body FROM models WHERE store = ? ORDER BY rowid DESC").all(store);
    return rows.map(({ id, body }) => ({ id: id as string, model: this.#parse(id as string, body as string) }));
  }

  /** A model never changes, and each check needs one. */
  #parse(id: string, body: string): AuthorizationModel {
    const model = this.#parsed.get(id) ?? (JSON.parse(body) as AuthorizationModel);
    this.#parsed.set(id, model);
    return model;
  }

  /** All changes or none. Throws 400 for a tuple that is there already, and for one to delete that is not there. */
  write(
    store: string,
    writes: { keys: readonly TupleKey[]; onDuplicate: OnConflict },
    deletes: { keys: readonly TupleKey[]; onMissing: OnConflict },
  ): void {
    const conflict = (what: string, { user, relation, object }: TupleKey): Error =>
      invalid(
        `${what}: user: '${user}', relation: '${relation}', object: '${object}': tuple to be written already existed or the tuple to be deleted did not exist`,
        "write_failed_due_to_invalid_input",
      );
    const remove = this.#database.prepare(
      "DELETE FROM tuples WHERE store = ? AND object = ? AND relation = ? AND user = ?",
    );
    const insert = this.#database.prepare(
      "INSERT INTO tuples (store, object, relation, user, written) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
    );
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      for (const key of deletes.keys) {
        const { changes } = remove.run(store, key.object, key.relation, key.user);
        if (changes === 0 && deletes.onMissing === "error")
          throw conflict("cannot delete a tuple which does not exist", key);
      }
      for (const key of writes.keys) {
        const { changes } = insert.run(store, key.object, key.relation, key.user, new Date().toISOString());
        if (changes === 0 && writes.onDuplicate === "error")
          throw conflict("cannot write a tuple which already exists", key);
      }
      this.#database.exec("COMMIT");
    } catch (error) {
      this.#database.exec("ROLLBACK");
      throw error;
    }
  }

  /** Tuples after a position; an empty field matches everything, and an object that ends in a colon all of its type. */
  read(store: string, wanted: TupleKey, after: number, limit: number): StoredTuple[] {
    const { object, relation, user } = wanted;
    return this.#database
      .prepare(
        `SELECT position, object, relation, user, written FROM tuples
         WHERE store = ?1 AND position > ?2 AND (?3 = '' OR object = ?3 OR (?4 AND substr(object, 1, length(?3)) = ?3))
           AND (?5 = '' OR relation = ?5) AND (?6 = '' OR user = ?6) ORDER BY position LIMIT ?7`,
      )
      .all(store, after, object, object.endsWith(":") ? 1 : 0, relation, user, limit) as unknown as StoredTuple[];
  }

  /** Looks up for checks: by an index, with one prepared statement. */
  usersOf(store: string): (object: string, relation: string) => string[] {
    const statement = this.#database.prepare("SELECT user FROM tuples WHERE store = ? AND object = ? AND relation = ?");
    return (object, relation) => statement.all(store, object, relation).map(({ user }) => user as string);
  }
}
