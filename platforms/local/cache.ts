import { homedir } from "node:os";
import { join } from "node:path";

/** What is dear to make and the same for every checkout: the engine, the tests' Python, releases, compiled code. */
export function cacheFolder(): string {
  return join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "lakekeeper-stack");
}
