/**
 * `node emulators/issuer/main.ts serve`: publishes the folder ISSUER_DIR on loopback port ISSUER_PORT (0: a free one)
 * and prints one line of JSON when it is ready. ISSUER_FAULT holds faults, one on each line (emulators/faultRule.ts).
 */
import { UserError } from "../../clients/errors.ts";
import { Faults } from "../faults.ts";
import { startIssuer } from "./server.ts";

const [command] = process.argv.slice(2);
const { ISSUER_DIR: directory, ISSUER_PORT: port } = process.env;

if (command !== "serve" || !directory || !/^\d+$/.test(port ?? "")) {
  console.error("usage: ISSUER_DIR=<folder> ISSUER_PORT=<port, 0 for a free one> node emulators/issuer/main.ts serve");
  process.exit(2);
}

try {
  const issuer = await startIssuer({
    directory,
    port: Number(port),
    faults: Faults.fromLines(process.env["ISSUER_FAULT"]),
  });
  console.log(JSON.stringify({ ready: true, port: issuer.port }));
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => void issuer.close());
} catch (error) {
  const { message } = error as Error;
  console.error(error instanceof UserError ? message : `cannot listen on 127.0.0.1:${port}: ${message}`);
  process.exit(1);
}
