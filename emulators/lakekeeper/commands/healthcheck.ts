import { log } from "../log.ts";
import type { Settings } from "../settings.ts";
import { Database } from "../store/database.ts";

const target = "lakekeeper::healthcheck";

async function checkDatabase(settings: Settings): Promise<boolean> {
  try {
    const database = await Database.open(settings.database);
    await database.close();
    log("INFO", target, "Database is healthy.");
    return true;
  } catch (error) {
    log("INFO", target, "Database is not healthy.", {
      details: error instanceof Error ? error.message : String(error),
    });
    return false;
  }
}

async function checkServer(settings: Settings): Promise<boolean> {
  try {
    const answer = await fetch(`http://localhost:${settings.listenPort}/health`);
    const { health } = (await answer.json()) as { health?: string };
    if (!answer.ok || health !== "ok") throw new Error(`status ${answer.status}, health ${String(health)}`);
    log("INFO", target, "Server is healthy.");
    return true;
  } catch (error) {
    log("INFO", target, "Server is not healthy.", { details: error instanceof Error ? error.message : String(error) });
    return false;
  }
}

/** `healthcheck`: the server unless told otherwise. False when anything asked about is not healthy. */
export async function runHealthcheck(
  settings: Settings,
  what: { database: boolean; server: boolean },
): Promise<boolean> {
  log("INFO", target, "Checking health...");
  if (what.database && !(await checkDatabase(settings))) return false;
  return what.database && !what.server ? true : checkServer(settings);
}
