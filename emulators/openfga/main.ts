import { Faults } from "../faults.ts";
import { required, serveFromCommandLine } from "../serving.ts";
import { startOpenFga } from "./server.ts";

const help = `Usage: node emulators/openfga/main.ts serve

An OpenFGA on loopback: stores, authorization models, tuples and checks by its HTTP API; GET /healthz.
Prints {"ready":true,"port":N} when it is ready.

Environment:
  OPENFGA_STANDIN_DIR           folder where everything is kept (required)
  OPENFGA_STANDIN_PORT          port; 0 or absent for a free one
  OPENFGA_AUTHN_PRESHARED_KEYS  keys, separated by commas, one of which each request has to bring; absent: none needed
  OPENFGA_STANDIN_LOG           file for one JSON line a request, without secrets
  OPENFGA_STANDIN_FAULT         faults, one on each line; node emulators/main.ts --help tells how they are written
`;

await serveFromCommandLine("OpenFGA", help, async () => {
  const { OPENFGA_STANDIN_LOG: requestLog, OPENFGA_AUTHN_PRESHARED_KEYS: keys = "" } = process.env;
  const server = await startOpenFga({
    directory: required("OPENFGA_STANDIN_DIR"),
    port: Number(process.env["OPENFGA_STANDIN_PORT"] ?? "0"),
    keys: keys.split(",").filter((key) => key !== ""),
    faults: Faults.fromLines(process.env["OPENFGA_STANDIN_FAULT"]),
    ...(requestLog === undefined ? {} : { requestLog }),
  });
  return { server, ready: { port: server.port } };
});
