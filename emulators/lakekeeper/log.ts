export type Level = "INFO" | "WARN" | "ERROR";

const ranks: Record<string, number> = { off: 3, error: 2, warn: 1, info: 0 };

/** RUST_LOG as a plain level; the real server's filters by module are not known here. */
function threshold(): number {
  return ranks[(process.env["RUST_LOG"] ?? "info").toLowerCase()] ?? 0;
}

/** Writes one JSON line to standard output in the form of the real server's log. Never pass a secret. */
export function log(level: Level, target: string, message: string, fields: Record<string, unknown> = {}): void {
  if (ranks[level.toLowerCase()]! < threshold()) return;
  const line = { timestamp: new Date().toISOString(), level, message, ...fields, target };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
