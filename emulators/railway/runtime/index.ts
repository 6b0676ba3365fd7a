import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { request } from "undici";
import { removeData } from "../../../platforms/local/cluster.ts";
import type { Container, ContainerSpec, Log, Runtime } from "../runtime.ts";
import { followLog, type FollowedLog } from "./followLog.ts";
import { registry } from "./images.ts";
import type { LakekeeperOptions } from "./lakekeeperImage.ts";
import { localized, requireAddress } from "./network.ts";
import { findSupervised, startSupervised, type Supervised } from "./supervised.ts";

const PROBE_MS = 5_000;
/** How long containers may take to end when all are stopped. */
const STOP_SECONDS = 30;

export interface LocalRuntimeOptions {
  /** Where containers leave their logs and how they ended, in a folder for each deployment. */
  readonly directory: string;
  readonly lakekeeper?: Partial<LakekeeperOptions>;
}

interface Running {
  readonly container: Container;
  readonly log: FollowedLog;
}

/**
 * Runs deployments for real, as detached processes of this machine that outlive the emulator: Railway's Postgres,
 * Lakekeeper and programs for Node, each on a loopback address of its own in the place of a network of its own.
 *
 * macOS has no loopback addresses but 127.0.0.1, unless they are added one by one: `start` fails there with a UserError.
 */
export function localRuntime({ directory, lakekeeper }: LocalRuntimeOptions): Runtime {
  const pull = registry({
    binary: process.env["LAKEKEEPER_BIN"] ?? "",
    download: true,
    api: "https://api.github.com",
    lockFile: "lakekeeper.lock.json",
    ...lakekeeper,
  });
  const running = new Set<Running>();

  async function attach(process: Supervised, address: string, say: Log): Promise<Container> {
    const log = await followLog(process.logFile, (line) => say(line, severityOf(line)));
    const finished = process.exitCode.then(async (exitCode) => {
      running.delete(entry);
      await log.finish();
      return { exitCode };
    });
    const container: Container = {
      finished,
      async stop(drainingSeconds) {
        await process.stop(drainingSeconds);
        await finished;
      },
      probe: (path, port) => statusOf(`http://${address}:${port}${path}`),
    };
    const entry = { container, log };
    running.add(entry);
    return container;
  }

  return {
    async start(spec, log) {
      const { image, tag } = await pull(spec.image);
      await requireAddress(spec.address);
      const environment = localized(spec.environment, spec.address, spec.hosts);
      const program = await image.program({ ...spec, environment }, tag, log);
      return attach(await startSupervised(folderOf(directory, spec), program), spec.address, log);
    },

    async find(spec, log) {
      const found = await findSupervised(folderOf(directory, spec));
      return found && attach(found, spec.address, log);
    },

    async close({ stop = false } = {}) {
      if (stop) await stopAll(directory);
      await Promise.all([...running].map(({ container, log }) => (stop ? container.finished : log.leave())));
    },
  };
}

/**
 * Stops every container that was started there, whoever did.
 *
 * @returns how many were running.
 */
export async function stopAll(directory: string): Promise<number> {
  const folders = await readdir(directory).catch(() => []);
  const found = await Promise.all(folders.map((name) => findSupervised(join(directory, name))));
  const running = found.filter((process) => process !== undefined).filter(({ isRunning }) => isRunning);
  await Promise.all(running.map((process) => process.stop(STOP_SECONDS)));
  return running.length;
}

/** Removes a volume with the data that root had to put elsewhere. Its container must be stopped. */
export async function removeVolume(directory: string): Promise<void> {
  for (const name of await readdir(directory).catch(() => [])) await removeData(join(directory, name));
  await removeData(directory);
}

function folderOf(directory: string, { deploymentId }: Pick<ContainerSpec, "deploymentId">): string {
  return join(directory, deploymentId);
}

/** As Railway probes: nothing but the status counts, and a program can tell the caller by the host that it names. */
async function statusOf(url: string): Promise<number | undefined> {
  const headers = { host: "healthcheck.railway.app" };
  try {
    const { statusCode, body } = await request(url, { headers, signal: AbortSignal.timeout(PROBE_MS), reset: true });
    await body.dump();
    return statusCode;
  } catch {
    return undefined;
  }
}

/** Of a line that is a JSON object with a level, which Railway reads; others have none. */
function severityOf(line: string): string | undefined {
  const [, level] = /^\{.*"level":"(\w+)"/.exec(line) ?? [];
  return level?.toLowerCase();
}
