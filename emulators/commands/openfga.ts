import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { Faults } from "../faults.ts";
import { startOpenFga } from "../openfga/server.ts";
import { listening, readOptions, remembered, type StandIn } from "./standIn.ts";

/** An OpenFGA without a store, which demands a preshared key. */
export const openfga: StandIn = {
  async start(args) {
    const { directory, port, faults, own } = readOptions("openfga", 9500, args, { log: { type: "string" } });
    const { key } = await remembered(join(directory, "key.json"), () => ({
      key: `k${randomBytes(24).toString("base64url")}`,
    }));
    const requestLog = own.log;
    const running = await listening(
      port,
      startOpenFga({
        directory,
        port,
        keys: [key],
        faults: new Faults(faults),
        ...(requestLog !== undefined && { requestLog }),
      }),
    );
    const text = `OpenFGA on ${running.url}, kept in ${directory}

  preshared key      ${key}

Lakekeeper's stand-in (the real one is given the address of OpenFGA's gRPC API):
  LAKEKEEPER__AUTHZ_BACKEND=openfga LAKEKEEPER__OPENFGA__ENDPOINT=${running.url} LAKEKEEPER__OPENFGA__API_KEY=${key}
  or  node emulators/main.ts lakekeeper --issuer <URL> --openfga ${running.url} --openfga-key ${key}

What it has:
  curl ${running.url}/stores -H 'Authorization: Bearer ${key}'
`;
    return { text, close: () => running.close() };
  },
};
