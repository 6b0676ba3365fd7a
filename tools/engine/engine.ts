import { mkdir, rename, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { UserError } from "../../clients/errors.ts";
import { cacheFolder } from "../../platforms/local/cache.ts";
import { withLock } from "../../platforms/local/lock.ts";
import { build } from "./build.ts";
import { download } from "./download.ts";
import { engineOnPath, isEngine } from "./onPath.ts";
import { programs, version } from "./release.ts";

/** Where an engine may come from; the defaults are this machine's. */
export interface EngineSources {
  /** Folders searched for `pulumi` and for `go`, like $PATH. */
  path: string;
  /** The tool cache, outside the checkout so that a second checkout and CI find what the first one built. */
  cache: string;
  /** Base URL of Pulumi's downloads. */
  site: string;
}

/**
 * The folder of a working Pulumi engine: from PATH, the tool cache, the official download, or built from pinned Go
 * modules, whichever comes first.
 *
 * @throws UserError that names the remedies when none of the four is possible.
 */
export async function findEngine(sources: Partial<EngineSources> = {}): Promise<string> {
  const path = sources.path ?? process.env.PATH ?? "";
  const cache = sources.cache ?? cacheFolder();
  const site = sources.site ?? "https://get.pulumi.com";

  const installed = await engineOnPath(path);
  if (installed !== undefined) return installed;
  const bin = join(cache, `engine-${version}`, "bin");
  if (isEngine(bin)) return bin;

  await mkdir(cache, { recursive: true });
  const target = join(cache, `engine-${version}`);
  await withLock(
    target,
    async () => {
      if (isEngine(bin)) return; // Another make was first.
      await install(target, async (folder) => {
        if (!(await download(site, folder))) await build(folder, path);
      });
    },
    { patienceSeconds: 30 * 60 },
  );
  return bin;
}

/** Nobody ever sees half an engine: it is filled beside its place, then renamed. Machines may share the cache. */
async function install(target: string, fill: (bin: string) => Promise<void>): Promise<void> {
  const unfinished = `${target}.unfinished-${hostname()}`;
  const bin = join(unfinished, "bin");
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(bin, { recursive: true });
  await fill(bin);
  if (!isEngine(bin)) throw new UserError(`The engine in ${bin} lacks one of ${programs.join(", ")}.`);
  await rm(target, { recursive: true, force: true });
  await rename(unfinished, target);
}
