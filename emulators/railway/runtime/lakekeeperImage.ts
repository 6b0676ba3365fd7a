import { findRuntime, type Runtime, type RuntimeOptions } from "../../../platforms/local/runtime.ts";
import { noSuchExecutable, wordsOf, type Image } from "./program.ts";

/** The only executable that the image holds; its entrypoint. */
const EXECUTABLE = "/home/nonroot/lakekeeper";
/** Those that this project can run. There never was a 0.13.2. */
const RELEASES = ["0.13.0", "0.13.1", "0.13.3"];

/** What the stand-in is told beyond what Lakekeeper knows, such as where Cloudflare's API is: as the emulator is told. */
function standInSettings(): Record<string, string> {
  const ours = Object.entries(process.env).filter(([name]) => name.startsWith("LAKEKEEPER_STANDIN__"));
  return Object.fromEntries(ours) as Record<string, string>;
}

/** How Lakekeeper is found on this machine; the release is the image's. */
export type LakekeeperOptions = Omit<RuntimeOptions, "version">;

/**
 * `quay.io/lakekeeper/catalog:v<release>`: what runs as Lakekeeper on this machine, the operator's own binary, one on
 * PATH, the official release or else the stand-in. A tag is known when it is a release that this project can run, or
 * what that binary says it is.
 */
export function lakekeeperImage(options: LakekeeperOptions): Image {
  const found = new Map<string, Promise<Runtime>>();
  function runtime(version: string): Promise<Runtime> {
    const known = found.get(version) ?? findRuntime({ ...options, version });
    found.set(version, known);
    known.catch(() => found.delete(version));
    return known;
  }

  return {
    async hasTag(tag) {
      const [, version] = /^v(\d+\.\d+\.\d+)$/.exec(tag) ?? [];
      if (version === undefined) return false;
      return RELEASES.includes(version) || (await runtime(version)).version === version;
    },

    async program({ startCommand, environment, address }, tag, say) {
      const [executable = EXECUTABLE, ...args] = wordsOf(startCommand);
      if (executable !== EXECUTABLE) return noSuchExecutable(executable);
      const { kind, command, version } = await runtime(tag.slice(1));
      if (`v${version}` !== tag) say(`Here runs Lakekeeper ${version} (${kind}) in the place of ${tag}`);
      return {
        command: [...command, ...args],
        // The stand-in's command is relative to the checkout.
        cwd: process.cwd(),
        // By default it listens on all addresses, those of other containers too; its metrics do so on the same one.
        environment: { LAKEKEEPER__BIND_IP: address, ...environment, ...(kind === "stand-in" && standInSettings()) },
        stopSignal: "SIGTERM",
      };
    },
  };
}
