import { randomBytes } from "node:crypto";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stopAll } from "../../platforms/local/processes.ts";

/** A stack's folder for state in a throwaway place, which other users can reach as they can a usual checkout. */
export interface Scratch {
  readonly state: string;
  /** Writes a shell script and returns its path. */
  script(name: string, body: string): Promise<string>;
  /** Stops every process that was left running there, and removes the folder. */
  remove(): Promise<void>;
}

export async function makeScratch(): Promise<Scratch> {
  const folder = await mkdtemp(join(tmpdir(), "local-platform-"));
  await chmod(folder, 0o755);
  const state = join(folder, "state");
  await mkdir(state);
  return {
    state,
    async script(name, body) {
      const path = join(folder, name);
      await writeFile(path, `#!/bin/sh\n${body}\n`, { mode: 0o755 });
      return path;
    },
    async remove() {
      await stopAll(state);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A secret that can be looked for in files. */
export function randomPassword(): string {
  return `pw${randomBytes(12).toString("hex")}`;
}
