import { join } from "node:path";
import { Faults } from "../faults.ts";
import { required, serveFromCommandLine } from "../serving.ts";
import { localRuntime, removeVolume } from "./runtime/index.ts";
import { startRailway } from "./server.ts";

const help = `Usage: node emulators/railway/main.ts serve

A Railway account on loopback: its GraphQL API at /graphql/v2, where services with an image of Postgres, Lakekeeper or
Node.js really run; GET /-/health, /-/objects, /-/calls; PUT /-/faults with rules, one on each line. Prints
{"ready":true,"port":N} when it is ready. What runs goes on running when it ends, and is found again.

Environment:
  RAILWAY_EMULATOR_DIR           folder for the account, its volumes and logs (required)
  RAILWAY_EMULATOR_TOKEN         the account's token (required)
  RAILWAY_EMULATOR_WORKSPACE_ID  id of its workspace (required)
  RAILWAY_EMULATOR_PORT          port; 0 or absent for a free one
  RAILWAY_EMULATOR_LOG           file for one JSON line a request, without secrets
  RAILWAY_EMULATOR_FAULT         faults, one on each line, by operation: POST /graphql/v2/serviceCreate, after, status 504;
                                 node emulators/main.ts --help tells how they are written
  LAKEKEEPER_STANDIN__*          given to each Lakekeeper that is the stand-in
`;

await serveFromCommandLine("Railway", help, async () => {
  const directory = required("RAILWAY_EMULATOR_DIR");
  const { RAILWAY_EMULATOR_LOG: requestLog } = process.env;
  const railway = await startRailway({
    port: Number(process.env["RAILWAY_EMULATOR_PORT"] ?? "0"),
    directory,
    token: required("RAILWAY_EMULATOR_TOKEN"),
    workspaceId: required("RAILWAY_EMULATOR_WORKSPACE_ID"),
    runtime: localRuntime({ directory: join(directory, "containers") }),
    removeData: removeVolume,
    faults: Faults.fromLines(process.env["RAILWAY_EMULATOR_FAULT"]),
    ...(requestLog !== undefined && { requestLog }),
  });
  return { server: railway, ready: { port: railway.port } };
});
