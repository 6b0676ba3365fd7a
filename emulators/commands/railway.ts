import { randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import { Faults } from "../faults.ts";
import { localRuntime, removeVolume } from "../railway/runtime/index.ts";
import { startRailway } from "../railway/server.ts";
import { listening, readOptions, remembered, type StandIn } from "./standIn.ts";

/** A Railway account with one workspace, in which Postgres, Lakekeeper and programs for Node really run. */
export const railway: StandIn = {
  async start(args) {
    const { directory, port, faults, own } = readOptions("railway", 9400, args, { log: { type: "string" } });
    const account = await remembered(join(directory, "account.json"), () => ({
      token: randomBytes(24).toString("base64url"),
      workspaceId: randomUUID(),
    }));
    const requestLog = own.log;
    const running = await listening(
      port,
      startRailway({
        ...account,
        directory,
        port,
        runtime: localRuntime({ directory: join(directory, "containers") }),
        removeData: removeVolume,
        faults: new Faults(faults),
        ...(requestLog !== undefined && { requestLog }),
      }),
    );
    const text = `Railway account on ${running.url}, kept in ${directory}

  account token      ${account.token}
  workspace id       ${account.workspaceId}

For a stack on the platform railway:
  RAILWAY_ENDPOINT=${running.url} RAILWAY_API_TOKEN=${account.token}

What it has:
  curl ${new URL("/-/objects", running.url).href}
`;
    return { text, close: () => running.close({ stop: true }) };
  },
};
