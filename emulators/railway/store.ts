import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { openPrivateDatabase } from "../database.ts";
import type { Kinds, LogLine } from "./model.ts";

type Kind = keyof Kinds;

/** Of a deployment; older ones are dropped. */
const MOST_LOG_LINES = 5_000;

/** What the account holds: read from memory, and written to a database at once, so that a killed emulator loses nothing. */
export class Store {
  readonly #database: DatabaseSync;
  readonly #objects = new Map<Kind, Map<string, Kinds[Kind]>>();
  readonly #write;
  readonly #addLog;
  readonly #trimLogs;
  readonly #logs;

  constructor(directory: string) {
    mkdirSync(directory, { recursive: true });
    this.#database = openPrivateDatabase(join(directory, "railway.db"));
    this.#database.exec(`
      PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
      CREATE TABLE IF NOT EXISTS objects (kind TEXT, id TEXT, json TEXT NOT NULL, PRIMARY KEY (kind, id));
      CREATE TABLE IF NOT EXISTS logs (
        number INTEGER PRIMARY KEY, deployment TEXT NOT NULL, timestamp TEXT NOT NULL, message TEXT NOT NULL, severity TEXT NOT NULL
      );
      CREATE INDEX IF NOT EXISTS logs_of_deployment ON logs (deployment, number)`);
    this.#write = this.#database.prepare("INSERT OR REPLACE INTO objects (kind, id, json) VALUES (?, ?, ?)");
    this.#addLog = this.#database.prepare(
      "INSERT INTO logs (deployment, timestamp, message, severity) VALUES (?, ?, ?, ?)",
    );
    this.#trimLogs = this.#database.prepare(`DELETE FROM logs WHERE deployment = ?1 AND number <=
      (SELECT number FROM logs WHERE deployment = ?1 ORDER BY number DESC LIMIT 1 OFFSET ${MOST_LOG_LINES})`);
    this.#logs = this.#database.prepare(
      "SELECT timestamp, message, severity FROM logs WHERE deployment = ? ORDER BY number",
    );
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

  /** All that is saved in `work` is kept, or nothing should the emulator be killed meanwhile. What it awaits is outside. */
  atomically<T>(work: () => T): T {
    this.#database.exec("BEGIN");
    try {
      return work();
    } finally {
      // Of a refusal too: memory has what it had saved.
      this.#database.exec("COMMIT");
    }
  }

  addLog(deploymentId: string, { timestamp, message, severity }: LogLine): void {
    const { lastInsertRowid } = this.#addLog.run(deploymentId, timestamp, message, severity);
    if (Number(lastInsertRowid) % MOST_LOG_LINES === 0) this.#trimLogs.run(deploymentId);
  }

  /** Oldest first. */
  logs(deploymentId: string): LogLine[] {
    return this.#logs.all(deploymentId) as unknown as LogLine[];
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
