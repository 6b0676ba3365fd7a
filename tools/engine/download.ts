import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { EnvHttpProxyAgent, fetch, type Response } from "undici";
import { UserError } from "../../clients/errors.ts";
import { say, version } from "./release.ts";
import { run } from "../run.ts";

const connectMilliseconds = 3_000;
const answerMilliseconds = 10_000;

/**
 * Fills `bin` from the official archive after comparing it with the published SHA-256.
 *
 * @param site base URL of Pulumi's downloads.
 * @returns false when the site cannot be reached or does not have this release for this machine; a wrong checksum is
 * an error, because somebody ought to look at it.
 */
export async function download(site: string, bin: string): Promise<boolean> {
  const archive = archiveName();
  if (archive === undefined) {
    say(`there is no official archive for ${process.platform}/${process.arch}`);
    return false;
  }
  // The agent honours HTTPS_PROXY and NO_PROXY, which a company's network may insist on.
  const dispatcher = new EnvHttpProxyAgent({ connect: { timeout: connectMilliseconds } });
  const get = (file: string, milliseconds: number): Promise<Response> =>
    fetch(`${site}/releases/sdk/${file}`, { dispatcher, signal: AbortSignal.timeout(milliseconds) });
  try {
    const checksums = await get(`pulumi-${version}-checksums.txt`, answerMilliseconds);
    if (!checksums.ok) {
      say(`${site} answered ${checksums.status} for the checksums of Pulumi ${version}`);
      return false;
    }
    const expected = checksumOf(archive, await checksums.text());
    say(`downloading Pulumi ${version} from ${site} (150 MB, once; a minute on a usual connection)`);
    const answer = await get(archive, 15 * 60_000);
    if (!answer.ok) {
      say(`${site} answered ${answer.status} for ${archive}`);
      return false;
    }
    await unpack(archive, expected, new Uint8Array(await answer.arrayBuffer()), bin);
    return true;
  } catch (error) {
    if (error instanceof UserError) throw error;
    say(`cannot download Pulumi from ${site}: ${reason(error)}`);
    return false;
  } finally {
    await dispatcher.close();
  }
}

function archiveName(): string | undefined {
  const architecture = { x64: "x64", arm64: "arm64" }[process.arch as string];
  const system = { linux: "linux", darwin: "darwin" }[process.platform as string];
  if (architecture === undefined || system === undefined) return undefined;
  return `pulumi-v${version}-${system}-${architecture}.tar.gz`;
}

function checksumOf(archive: string, checksums: string): string {
  for (const line of checksums.split("\n")) {
    const [sum, name] = line.trim().split(/\s+\*?/);
    if (name === archive && sum !== undefined) return sum.toLowerCase();
  }
  throw new UserError(`The published checksums of Pulumi ${version} do not mention ${archive}. Nothing was installed.`);
}

async function unpack(archive: string, expected: string, bytes: Uint8Array, bin: string): Promise<void> {
  const actual = createHash("sha256").update(bytes).digest("hex");
  if (actual !== expected) {
    throw new UserError(
      `${archive} has the SHA-256 ${actual}, but ${expected} is published. It was not installed. ` +
        "Try again; if it stays so, something between this machine and the site changes downloads.",
    );
  }
  const file = join(bin, archive);
  await writeFile(file, bytes);
  await run("tar", ["-xzf", archive, "--strip-components=1"], { cwd: bin });
  await run("rm", [archive], { cwd: bin });
}

/** undici wraps what happened to the connection in a `TypeError: fetch failed`. */
function reason(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}
