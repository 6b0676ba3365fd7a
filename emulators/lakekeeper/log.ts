export type Level = "INFO" | "WARN" | "ERROR";

/** Writes one JSON line to standard output in the form of the real server's log. Never pass a secret. */
export function log(level: Level, target: string, message: string, fields: Record<string, unknown> = {}): void {
  const line = { timestamp: new Date().toISOString(), level, message, ...fields, target };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
