import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Kinds } from "./model.ts";

type Kind = keyof Kinds;

/** What the account holds: read from memory, and written to a database at once, so that a killed emulator loses nothing. */
export class Store {
  readonly #database: DatabaseSync;
  readonly #objects = new Map<Kind, Map<string, Kinds[Kind]>>();
  readonly #write;
  readonly #remove;

  constructor(directory: string) {
    mkdirSync(directory, { recursive: true });
    this.#database = new DatabaseSync(join(directory, "railway.db"));
    this.#database.exec(`
      PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
      CREATE TABLE IF NOT EXISTS objects (kind TEXT, id TEXT, json TEXT NOT NULL, PRIMARY KEY (kind, id))`);
    this.#write = this.#database.prepare("INSERT OR REPLACE INTO objects (kind, id, json) VALUES (?, ?, ?)");
    this.#remove = this.#database.prepare("DELETE FROM objects WHERE kind = ? AND id = ?");
    for (const { kind, json } of this.#database.prepare("SELECT kind, json FROM objects ORDER BY rowid").all()) {
      const object = JSON.parse(String(json)) as Kinds[Kind];
      this.#all(kind as Kind).set(object.id, object);
    }
  }

  /** All of a kind that are not deleted, oldest first. */
  list<K extends Kind>(kind: K): Kinds[K][] {
    return [...(this.#all(kind) as Map<string, Kinds[K]>).values()].filter(({ deletedAt }) => deletedAt === null);
  }

  /** Also deleted ones. */
  get<K extends Kind>(kind: K, id: string): Kinds[K] | undefined {
    return (this.#all(kind) as Map<string, Kinds[K]>).get(id);
  }

  /** Keeps a new object, or the changes of one that is kept already. */
  save<K extends Kind>(kind: K, object: Kinds[K]): Kinds[K] {
    object.updatedAt = new Date().toISOString();
    this.#all(kind).set(object.id, object);
    this.#write.run(kind, object.id, JSON.stringify(object));
    return object;
  }

  /** What nobody asks for again is forgotten and not only marked. */
  forget(kind: Kind, id: string): void {
    this.#all(kind).delete(id);
    this.#remove.run(kind, id);
  }

  close(): void {
    this.#database.close();
  }

  #all(kind: Kind): Map<string, Kinds[Kind]> {
    const all = this.#objects.get(kind) ?? new Map<string, Kinds[Kind]>();
    this.#objects.set(kind, all);
    return all;
  }
}
