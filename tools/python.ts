import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { UserError } from "../clients/errors.ts";
import { cacheFolder } from "../platforms/local/cache.ts";
import { withLock } from "../platforms/local/lock.ts";
import { command } from "./command.ts";
import { run } from "./run.ts";

const requirements = join(import.meta.dirname, "../tests/e2e/python/requirements.txt");

/**
 * The path of a Python that has the packages of tests/e2e/python/requirements.txt. It is made once for each version of
 * that list, in the cache outside the checkout.
 *
 * @throws UserError when there is no Python to start from or a package cannot be installed
 */
export async function pythonWithPackages(): Promise<string> {
  const base = await findPython();
  const cache = cacheFolder();
  const hash = createHash("sha256").update(base.version).update(readFileSync(requirements)).digest("hex").slice(0, 12);
  const environment = join(cache, `python-${hash}`);
  const python = join(environment, "bin", "python");
  if (existsSync(python)) return python;

  await mkdir(cache, { recursive: true });
  await withLock(
    environment,
    async () => {
      if (existsSync(python)) return;
      say(`making the Python environment for the tests in ${environment} (once; about 530 MB, a minute)`);
      const unfinished = `${environment}.unfinished`;
      await rm(unfinished, { recursive: true, force: true });
      await run(base.program, ["-m", "venv", unfinished], { cwd: cache });
      const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", requirements];
      await run(join(unfinished, "bin", "python"), pip, { cwd: cache });
      await rename(unfinished, environment);
    },
    { patienceSeconds: 10 * 60 },
  );
  return python;
}

/** The Python that the list of packages was made on comes first, then newer ones. */
async function findPython(): Promise<{ program: string; version: string }> {
  const candidates = process.env.PYTHON ? [process.env.PYTHON] : ["python3.11", "python3", "python3.12", "python3.13"];
  const ask = ["-c", "import platform, sys; print(platform.python_version()); sys.exit(sys.version_info < (3, 11))"];
  for (const program of candidates) {
    const version = await run(program, ask, { cwd: "/" }).catch(() => undefined);
    if (version !== undefined) return { program, version: version.trim() };
  }
  throw new UserError(
    `No Python 3.11 or newer among ${candidates.join(", ")}. The tests with PyIceberg need one: ` +
      `install it, or name it in the environment variable PYTHON.`,
  );
}

function say(message: string): void {
  process.stderr.write(`${message}\n`);
}

if (import.meta.main) void command(async () => console.log(await pythonWithPackages()));
