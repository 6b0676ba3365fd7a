import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** SHA-256 of files, and of the TypeScript files in folders: tells whether a program has changed since it was started. */
export async function codeDigest(paths: readonly string[]): Promise<string> {
  const files = (await Promise.all(paths.map(filesOf))).flat().sort();
  const hash = createHash("sha256");
  for (const file of files)
    hash
      .update(file)
      .update("\0")
      .update(await readFile(file))
      .update("\0");
  return hash.digest("hex");
}

async function filesOf(path: string): Promise<string[]> {
  if (path.endsWith(".ts")) return [path];
  const names = await readdir(path, { recursive: true });
  return names.filter((name) => name.endsWith(".ts")).map((name) => join(path, name));
}
