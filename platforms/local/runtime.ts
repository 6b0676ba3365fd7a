import { execFile } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { promisify } from "node:util";
import { UserError } from "../../clients/errors.ts";
import { nodeCommand } from "./node.ts";
import { officialRelease, type ReleaseOptions } from "./release.ts";

/** What runs as Lakekeeper. */
export interface Runtime {
  readonly kind: "binary" | "stand-in";
  /** To be followed by `migrate`, `serve` and so on; relative paths are relative to the checkout. */
  readonly command: string[];
  /** What `version` prints. */
  readonly version: string;
}

export interface RuntimeOptions extends ReleaseOptions {
  /** Path of the operator's own binary, or empty. */
  readonly binary: string;
  /** False keeps to what this machine has. */
  readonly download: boolean;
}

/** The oldest release with the routes and the settings that this project uses. */
const OLDEST = [0, 13] as const;
const VERSION_MS = 10_000;

const STAND_IN = nodeCommand("emulators/lakekeeper/main.ts");

/**
 * The operator's binary, `lakekeeper` on PATH, the official release, or else the stand-in, in this order.
 *
 * @throws UserError when the operator's own binary cannot be used: nothing else takes its place.
 */
export async function findRuntime(options: RuntimeOptions): Promise<Runtime> {
  if (options.binary) return configuredBinary(options.binary);
  const installed = await onPath("lakekeeper");
  if (installed) {
    const found = await usable(installed, "on PATH");
    if (found) return found;
  }
  const released = options.download ? await officialRelease(options) : undefined;
  if (released) {
    const found = await usable(released, "of the official release");
    if (found) return found;
  }
  console.log(
    `No Lakekeeper binary is at hand: a STAND-IN runs in its place (emulators/lakekeeper). ` +
      `It behaves like release ${options.version} as far as this project uses it. ` +
      `Set lakekeeper:binary or LAKEKEEPER_BIN to run the real one.`,
  );
  return { kind: "stand-in", command: STAND_IN, version: await versionOf(STAND_IN) };
}

/** @throws UserError naming the binary, what is wrong with it and what would be right. */
export async function configuredBinary(binary: string): Promise<Runtime> {
  const path = resolve(binary);
  const remedy = "Correct lakekeeper:binary (or LAKEKEEPER_BIN), or leave it out.";
  if (!(await isExecutable(path))) {
    throw new UserError(`${path}, the configured Lakekeeper binary, is no program that can be run. ${remedy}`);
  }
  try {
    return { kind: "binary", command: [path], version: await versionOf([path]) };
  } catch (cause) {
    throw new UserError(`${path}, the configured Lakekeeper binary, ${(cause as Error).message}. ${remedy}`, { cause });
  }
}

/** True as long as what was found earlier is still there and the same. */
export async function isUnchanged({ kind, command, version }: Runtime): Promise<boolean> {
  if (kind === "stand-in") return true;
  return versionOf(command).then(
    (today) => today === version,
    () => false,
  );
}

async function usable(path: string, whence: string): Promise<Runtime | undefined> {
  try {
    return { kind: "binary", command: [path], version: await versionOf([path]) };
  } catch (error) {
    console.log(`${path} ${whence} is not used: it ${(error as Error).message}`);
    return undefined;
  }
}

/** @throws Error whose message completes "this binary ...". */
async function versionOf(command: readonly string[]): Promise<string> {
  const [program = "", ...args] = command;
  const file = program === "node" ? process.execPath : program;
  const { stdout } = await promisify(execFile)(file, [...args, "version"], { timeout: VERSION_MS }).catch((cause) => {
    throw new Error('is not Lakekeeper: it failed when asked for its "version"', { cause });
  });
  const version = stdout.trim();
  const [, major, minor] = /^(\d+)\.(\d+)\.\d+\S*$/.exec(version) ?? [];
  if (major === undefined)
    throw new Error(`is not Lakekeeper: "version" prints ${JSON.stringify(version.slice(0, 80))}`);
  const [oldestMajor, oldestMinor] = OLDEST;
  if (Number(major) < oldestMajor || (Number(major) === oldestMajor && Number(minor) < oldestMinor)) {
    throw new Error(`is too old: it is ${version}, and ${OLDEST.join(".")} or newer is needed`);
  }
  return version;
}

async function onPath(name: string): Promise<string | undefined> {
  for (const folder of (process.env["PATH"] ?? "").split(delimiter).filter(isAbsolute)) {
    if (await isExecutable(join(folder, name))) return join(folder, name);
  }
  return undefined;
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
