import { mkdir, open, rename, stat, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { redact } from "../../clients/redact.ts";

/** A log file larger than this is put aside, as `<file>.1`, before the next start. */
const LARGE = 10_000_000;
const TAIL_BYTES = 8_192;
const TAIL_LINES = 20;

export interface Log {
  readonly path: string;
  readonly handle: FileHandle;
  /** Size when it was opened: what this start has written begins here. */
  readonly start: number;
}

/** Opens a log for appending, readable by its owner alone. The caller closes the handle. */
export async function openLog(path: string): Promise<Log> {
  await mkdir(dirname(path), { recursive: true });
  const size = (await stat(path).catch(() => undefined))?.size ?? 0;
  if (size > LARGE) await rename(path, `${path}.1`);
  const handle = await open(path, "a", 0o600);
  return { path, handle, start: size > LARGE ? 0 : size };
}

/** The last lines that were written to a log since it was opened, without the secrets. */
export async function tail(
  { path, start }: Pick<Log, "path" | "start">,
  secrets: readonly string[] = [],
): Promise<string> {
  await using file = await open(path).catch(() => undefined);
  if (!file) return "";
  const { size } = await file.stat();
  const from = Math.max(start, size - TAIL_BYTES);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.max(size - from, 0)), 0, null, from);
  const lines = buffer.toString("utf8", 0, bytesRead).trimEnd().split("\n").slice(-TAIL_LINES);
  return redact(lines.join("\n"), secrets);
}

const SECRET_NAME = /password|secret|token|key|credential/i;

/** The values of an environment that must not be shown: those named like a secret, and passwords inside URLs. */
export function secretsOf(environment: Readonly<Record<string, string>>): string[] {
  return Object.entries(environment).flatMap(([name, value]) => {
    const password = URL.parse(value)?.password;
    return [...(SECRET_NAME.test(name) ? [value] : []), ...(password ? [password, decodeURIComponent(password)] : [])];
  });
}
