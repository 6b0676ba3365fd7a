import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { commandOf } from "../platforms/local/processId.ts";
import { run } from "./run.ts";
import { home, project, projectName, stateFile, type Stack } from "./stack.ts";

/**
 * Clears up after a run on an isolated stack that was killed: the engine leaves its lock, which stops every later run,
 * and notes of what it was doing, which make it warn ever after. Both may go, because what this project's providers
 * create they adopt when they find it made.
 */
export async function recover(stack: Stack): Promise<void> {
  if ((await liveEngine(stack)) !== undefined) return;
  const locked = lockHolders(stack).length > 0;
  if (!locked && !hasPendingOperations(stack)) return;

  process.stderr.write(`An earlier run on the stack ${stack.name} was killed: clearing up after it.\n`);
  // In the copy of the project, for the engine may write into the settings beside Pulumi.yaml.
  const engine = (...args: string[]): Promise<string> => run("pulumi", args, { cwd: project, env: stack.environment });
  if (locked) await engine("cancel", "--yes");
  const state = JSON.parse(await engine("stack", "export")) as { deployment: { pending_operations?: unknown } };
  delete state.deployment.pending_operations;
  const folder = mkdtempSync(join(home, "recovered-"));
  try {
    const file = join(folder, "state.json");
    writeFileSync(file, JSON.stringify(state), { mode: 0o600 });
    await engine("stack", "import", "--file", file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Puts the state of an isolated stack back when the engine was killed while it wrote one: it moves the old one aside
 * first, and what it had written by then may be half of the new one. Only a lock tells this from a stack that was removed.
 */
export async function restoreState(stack: Stack): Promise<void> {
  const [file, aside] = [stateFile(stack), `${stateFile(stack)}.bak`];
  const isKilled = lockHolders(stack).length > 0 && (await liveEngine(stack)) === undefined;
  if (isKilled && !isWhole(file) && isWhole(aside)) copyFileSync(aside, file);
}

function isWhole(file: string): boolean {
  try {
    JSON.parse(readFileSync(file, "utf8"));
    return true;
  } catch {
    return false;
  }
}

/** The pid of an engine that is changing the stack; undefined when there is none. */
export async function liveEngine(stack: Stack): Promise<number | undefined> {
  for (const pid of lockHolders(stack)) if (await isEngineRunning(pid)) return pid;
  return undefined;
}

function hasPendingOperations(stack: Stack): boolean {
  const operations = z.object({
    checkpoint: z.object({ latest: z.object({ pending_operations: z.array(z.unknown()).nullish() }).nullish() }),
  });
  if (!existsSync(stateFile(stack))) return false;
  const { latest } = operations.parse(JSON.parse(readFileSync(stateFile(stack), "utf8"))).checkpoint;
  return (latest?.pending_operations?.length ?? 0) > 0;
}

/** The processes that hold the stack's lock; on another machine there are none, for the backend is in this checkout. */
function lockHolders(stack: Stack): number[] {
  const folder = join(home, "backend", ".pulumi", "locks", "organization", projectName(), stack.name);
  let files: string[];
  try {
    files = readdirSync(folder);
  } catch {
    return [];
  }
  const lock = z.object({ pid: z.int() });
  return files
    .filter((file) => file.endsWith(".json"))
    .map((file) => lock.parse(JSON.parse(readFileSync(join(folder, file), "utf8"))).pid);
}

/** After a reboot another program may have the pid. */
async function isEngineRunning(pid: number): Promise<boolean> {
  return (await commandOf(pid))?.includes("pulumi") ?? false;
}
