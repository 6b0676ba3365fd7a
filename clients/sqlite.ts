import { closeSync, copyFileSync, existsSync, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type * as Sqlite from "node:sqlite";

/**
 * Rows of a query on a SQLite file that belongs to somebody else: read-only, beside a writer that has it open, and
 * without a trace in its folder.
 *
 * @throws Error of node:sqlite (`errcode` is SQLite's result code)
 */
export function querySqlite(file: string, sql: string): unknown[] {
  if (!readingWouldCreateFiles(file)) return query(file, sql);
  const folder = mkdtempSync(join(tmpdir(), "sqlite-"));
  try {
    const copy = join(folder, basename(file));
    copyFileSync(file, copy);
    if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${copy}-wal`);
    return query(copy, sql);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function query(file: string, sql: string): unknown[] {
  using database = new sqlite.DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  return database.prepare(sql).all();
}

/**
 * In WAL mode even a reader makes the `-shm` and `-wal` files when no writer has made them. Bytes 18 and 19 of the header
 * are 2 in that mode (SQLite's documentation, "Database File Format").
 */
function readingWouldCreateFiles(file: string): boolean {
  const header = Buffer.alloc(20);
  const descriptor = openSync(file, "r");
  try {
    readSync(descriptor, header);
  } finally {
    closeSync(descriptor);
  }
  return header[19] === 2 && !existsSync(`${file}-shm`);
}

/** node:sqlite without the notice that it is experimental: the Node that runs this is pinned, so it tells the user nothing. */
function loadSqlite(): typeof Sqlite {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => {};
  try {
    return process.getBuiltinModule("node:sqlite");
  } finally {
    process.emitWarning = emitWarning;
  }
}

const sqlite = loadSqlite();
