import { closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

/** Opens or makes a SQLite database that only its owner can read: it holds tokens and keys. */
export function openPrivateDatabase(file: string): DatabaseSync {
  // SQLite gives its write-ahead log the rights that the database has.
  closeSync(openSync(file, "a", 0o600));
  return new DatabaseSync(file);
}
