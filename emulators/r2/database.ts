import type { DatabaseSync, StatementSync } from "node:sqlite";
import { openPrivateDatabase } from "../database.ts";

/**
 * The index of everything the emulator stores. Keys are compared as UTF-8 bytes, which is the order S3 lists them in.
 *
 * Write-ahead logging without a sync on each commit: what was answered survives a killed process, though not a machine
 * that loses power.
 */
export function openDatabase(file: string): DatabaseSync {
  const database = openPrivateDatabase(file);
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    PRAGMA busy_timeout = 5000;
    PRAGMA foreign_keys = ON;
    PRAGMA cache_size = -2000;

    CREATE TABLE IF NOT EXISTS buckets (
      name TEXT PRIMARY KEY,
      created INTEGER NOT NULL
    ) WITHOUT ROWID;

    CREATE TABLE IF NOT EXISTS objects (
      bucket TEXT NOT NULL REFERENCES buckets,
      key TEXT NOT NULL,
      size INTEGER NOT NULL,
      etag TEXT NOT NULL,
      modified INTEGER NOT NULL,
      headers TEXT NOT NULL,
      checksum TEXT,
      blobs TEXT NOT NULL,
      PRIMARY KEY (bucket, key)
    ) WITHOUT ROWID;

    CREATE TABLE IF NOT EXISTS uploads (
      id TEXT PRIMARY KEY,
      bucket TEXT NOT NULL REFERENCES buckets ON DELETE CASCADE,
      key TEXT NOT NULL,
      created INTEGER NOT NULL,
      headers TEXT NOT NULL,
      algorithm TEXT
    ) WITHOUT ROWID;

    CREATE TABLE IF NOT EXISTS parts (
      upload TEXT NOT NULL REFERENCES uploads ON DELETE CASCADE,
      number INTEGER NOT NULL,
      size INTEGER NOT NULL,
      etag TEXT NOT NULL,
      modified INTEGER NOT NULL,
      checksum TEXT,
      blob TEXT NOT NULL,
      PRIMARY KEY (upload, number)
    ) WITHOUT ROWID;

    CREATE TABLE IF NOT EXISTS bucket_settings (
      bucket TEXT PRIMARY KEY REFERENCES buckets ON DELETE CASCADE,
      settings TEXT NOT NULL
    ) WITHOUT ROWID;

    CREATE TABLE IF NOT EXISTS account_tokens (
      id TEXT PRIMARY KEY,
      value TEXT NOT NULL UNIQUE,
      token TEXT NOT NULL,
      document TEXT NOT NULL
    );

    CREATE TABLE IF NOT EXISTS revoked_tokens (
      id TEXT PRIMARY KEY
    ) WITHOUT ROWID;

    CREATE TABLE IF NOT EXISTS workers (
      name TEXT PRIMARY KEY,
      document TEXT NOT NULL
    ) WITHOUT ROWID;

    CREATE TABLE IF NOT EXISTS dns_records (
      id TEXT PRIMARY KEY,
      zone TEXT NOT NULL,
      document TEXT NOT NULL
    );
  `);
  return database;
}

const statements = new WeakMap<DatabaseSync, Map<string, StatementSync>>();

/** A statement compiled on its first use, for those that nearly every request needs. */
export function prepared(database: DatabaseSync, sql: string): StatementSync {
  const known = statements.get(database) ?? new Map<string, StatementSync>();
  statements.set(database, known);
  const statement = known.get(sql) ?? database.prepare(sql);
  known.set(sql, statement);
  return statement;
}

/** Runs `work` in one transaction: all of it, or nothing. */
export function transaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}
