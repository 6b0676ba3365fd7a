import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { access, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { EnvHttpProxyAgent, request } from "undici";
import { z } from "zod";
import { UserError } from "../../clients/errors.ts";
import { cacheFolder } from "./cache.ts";
import { withLock } from "./lock.ts";

export interface ReleaseOptions {
  /** Such as `0.13.3`. */
  readonly version: string;
  /** Base URL of GitHub's API, or of a mirror with the same answers. */
  readonly api: string;
  /** Where the digest of each archive is kept once it has been seen. */
  readonly lockFile: string;
}

/** A machine without a network has to notice at once. */
const CONNECT_MS = 900;
const ANSWER_MS = 10_000;
const DOWNLOAD_MS = 120_000;
const REDIRECTS = 5;

const releaseAnswer = z.object({
  assets: z.array(z.object({ name: z.string(), browser_download_url: z.url(), digest: z.string().nullish() })),
});

/** Digests by version and archive name. */
const lockContent = z.record(z.string(), z.record(z.string(), z.string().regex(/^sha256:[0-9a-f]{64}$/)));

/**
 * Path of the official release's binary: cached, or downloaded and checked against its digest.
 *
 * The project publishes no checksums; GitHub computes a digest of each archive. The first one seen is recorded in the
 * lock file, and from then on any other one is refused.
 *
 * @returns undefined when there is no archive for this machine or the network does not answer.
 * @throws UserError when an archive is not what the lock file says.
 */
export async function officialRelease(options: ReleaseOptions): Promise<string | undefined> {
  const archive = archiveName();
  if (!archive) return undefined;
  const cache = cacheFolder();
  const folder = join(cache, `lakekeeper-${options.version}`);
  const binary = join(folder, "lakekeeper");
  if (await exists(binary)) return binary;
  await mkdir(cache, { recursive: true });
  return withLock(folder, async () => {
    if (await exists(binary)) return binary;
    const bytes = await download(archive, options);
    if (!bytes) return undefined;
    await unpack(bytes, folder);
    return binary;
  });
}

function archiveName(): string | undefined {
  const targets: Record<string, string> = {
    "linux-x64": "x86_64-unknown-linux-gnu",
    "linux-arm64": "aarch64-unknown-linux-gnu",
    "darwin-arm64": "aarch64-apple-darwin",
  };
  const target = targets[`${process.platform}-${process.arch}`];
  return target && `lakekeeper-${target}.tar.gz`;
}

async function download(archive: string, { version, api, lockFile }: ReleaseOptions): Promise<Buffer | undefined> {
  // The agent honours HTTPS_PROXY and NO_PROXY.
  const dispatcher = new EnvHttpProxyAgent({ connect: { timeout: CONNECT_MS } });
  try {
    const url = `${api}/repos/lakekeeper/lakekeeper/releases/tags/v${version}`;
    const release = releaseAnswer.parse(JSON.parse((await get(url, dispatcher, ANSWER_MS)).toString()));
    const asset = release.assets.find(({ name }) => name === archive);
    if (!asset?.digest) {
      console.log(`Lakekeeper ${version} has no ${archive} with a digest at ${api}`);
      return undefined;
    }
    await requireRecorded(lockFile, version, archive, asset.digest);
    console.log(`downloading ${archive} of Lakekeeper ${version} (once)`);
    const bytes = await get(asset.browser_download_url, dispatcher, DOWNLOAD_MS);
    const actual = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
    if (actual !== asset.digest) throw refused(archive, version, actual, asset.digest);
    await record(lockFile, version, archive, actual);
    return bytes;
  } catch (error) {
    if (error instanceof UserError) throw error;
    console.log(`the official release of Lakekeeper ${version} cannot be had: ${(error as Error).message}`);
    return undefined;
  } finally {
    await dispatcher.destroy();
  }
}

async function get(url: string, dispatcher: EnvHttpProxyAgent, milliseconds: number): Promise<Buffer> {
  const signal = AbortSignal.timeout(milliseconds);
  let next = url;
  for (let hop = 0; hop <= REDIRECTS; hop++) {
    // GitHub refuses requests without a user agent.
    const answer = await request(next, { dispatcher, signal, headers: { "user-agent": "lakekeeper-stack" } });
    if (answer.statusCode < 300) return Buffer.from(await answer.body.arrayBuffer());
    await answer.body.dump();
    const { location } = answer.headers;
    if (answer.statusCode >= 400 || typeof location !== "string") throw new Error(`${next}: HTTP ${answer.statusCode}`);
    next = new URL(location, next).href;
  }
  throw new Error(`${url}: too many redirects`);
}

async function readLock(lockFile: string): Promise<z.output<typeof lockContent>> {
  const text = await readFile(lockFile, "utf8").catch(() => "{}");
  try {
    return lockContent.parse(JSON.parse(text));
  } catch (cause) {
    throw new UserError(`${lockFile} cannot be read as digests of Lakekeeper's archives. Restore it.`, { cause });
  }
}

async function requireRecorded(lockFile: string, version: string, archive: string, digest: string): Promise<void> {
  const recorded = (await readLock(lockFile))[version]?.[archive];
  if (recorded !== undefined && recorded !== digest) throw refused(archive, version, digest, recorded, lockFile);
}

async function record(lockFile: string, version: string, archive: string, digest: string): Promise<void> {
  const lock = await readLock(lockFile);
  const content = { ...lock, [version]: { ...lock[version], [archive]: digest } };
  await writeFile(lockFile, `${JSON.stringify(content, null, 2)}\n`);
}

function refused(archive: string, version: string, actual: string, expected: string, lockFile?: string): UserError {
  return new UserError(
    `${archive} of Lakekeeper ${version} is refused: its digest is ${actual}, but ` +
      `${lockFile ? `${lockFile} records` : "GitHub announces"} ${expected}. ` +
      "A published archive never changes: find out why before you trust it.",
  );
}

async function unpack(archive: Buffer, folder: string): Promise<void> {
  // Unpacked beside and renamed, so that half a download is never taken for a binary.
  const partial = await mkdtemp(`${folder}-`);
  try {
    await writeFile(join(partial, "archive.tar.gz"), archive);
    await promisify(execFile)("tar", ["-xzf", "archive.tar.gz", "lakekeeper"], { cwd: partial });
    await rm(join(partial, "archive.tar.gz"));
    await rename(partial, folder);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
