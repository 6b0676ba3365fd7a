import { execFile } from "node:child_process";
import { accessSync, constants, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { programs, say, version } from "./release.ts";

/**
 * The folder of a complete and new enough Pulumi on `path`, or undefined. Why a `pulumi` that is there is not used is
 * said, because its owner expects it to be.
 */
export async function engineOnPath(path: string): Promise<string | undefined> {
  const pulumi = path
    .split(delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, "pulumi"))
    .find(isExecutable);
  if (pulumi === undefined) return undefined;

  // A package manager may link only `pulumi` itself into its bin folder.
  const folder = [dirname(pulumi), dirname(realpathSync(pulumi))].find(isEngine);
  if (folder === undefined) {
    say(`not using ${pulumi}: ${programs.slice(1).join(" and ")} are not beside it`);
    return undefined;
  }
  const found = await versionOf(pulumi);
  if (found === undefined || isUnsuitable(found, version)) {
    say(
      `not using ${pulumi}: it is ${found ?? "of an unknown version"}, this project needs ${version} or newer of 3.x`,
    );
    return undefined;
  }
  return folder;
}

/** Whether `folder` holds every program of an engine. */
export function isEngine(folder: string): boolean {
  return programs.every((program) => isExecutable(join(folder, program)));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function versionOf(pulumi: string): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)(pulumi, ["version"], {
      env: { ...process.env, PULUMI_SKIP_UPDATE_CHECK: "1" },
      timeout: 10_000,
    });
    return /^v?(\d+\.\d+\.\d+)/.exec(stdout.trim())?.[1];
  } catch {
    return undefined;
  }
}

/** Older than wanted, or of another major version, which promises nothing about this one's programs and state. */
function isUnsuitable(found: string, wanted: string): boolean {
  const [foundMajor = 0, foundMinor = 0, foundPatch = 0] = found.split(".").map(Number);
  const [major = 0, minor = 0, patch = 0] = wanted.split(".").map(Number);
  if (foundMajor !== major) return true;
  return foundMinor === minor ? foundPatch < patch : foundMinor < minor;
}
