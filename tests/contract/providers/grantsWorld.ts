import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Lakekeeper, withCatalog } from "../../../clients/lakekeeper.ts";
import type { Connection } from "../../../clients/token.ts";
import { type RunningServer, startLakekeeper } from "../../../emulators/lakekeeper/server.ts";
import { type OpenFga, startOpenFga } from "../../../emulators/openfga/server.ts";
import { warehouseRequest } from "../lakekeeper/client.ts";
import { startWorld, type World } from "../lakekeeper/world.ts";

const KEY = "preshared-key-of-the-test";

/** Catalogs that ask one OpenFGA, each with a store of its own. */
export class GrantsWorld {
  readonly openFga: OpenFga;
  readonly #world: World;
  readonly #directory: string;
  readonly #servers: RunningServer[] = [];

  private constructor(world: World, openFga: OpenFga, directory: string) {
    this.#world = world;
    this.openFga = openFga;
    this.#directory = directory;
  }

  static async start(): Promise<GrantsWorld> {
    process.env["RUST_LOG"] = "off";
    const directory = await mkdtemp(join(tmpdir(), "openfga-"));
    return new GrantsWorld(await startWorld(), await startOpenFga({ directory, keys: [KEY] }), directory);
  }

  /** A new catalog that nobody has bootstrapped; its store is called as it is, unless it is given another. */
  async catalog(name: string, store = name): Promise<string> {
    const server = await startLakekeeper({
      ...(await this.#world.settings(name)),
      ...this.#world.openId,
      LAKEKEEPER__AUTHZ_BACKEND: "openfga",
      LAKEKEEPER__OPENFGA__ENDPOINT: this.openFga.url,
      LAKEKEEPER__OPENFGA__API_KEY: KEY,
      LAKEKEEPER__OPENFGA__STORE_NAME: store,
    });
    this.#servers.push(server);
    return server.url;
  }

  /** How `oidc~<subject>` calls the catalog at `uri`. */
  async as(subject: string, uri: string): Promise<Connection> {
    return { uri, identity: { kind: "token", token: await this.#world.sign(subject) } };
  }

  /** The id of a new warehouse. */
  async makeWarehouse(connection: Connection, name: string): Promise<string> {
    const body = warehouseRequest(this.#world, name);
    const made = await withCatalog(connection, (http) => new Lakekeeper(http).createWarehouse(body));
    return made["warehouse-id"];
  }

  async close(): Promise<void> {
    for (const server of this.#servers) await server.close();
    await this.openFga.close();
    await this.#world.close();
    await rm(this.#directory, { recursive: true });
  }
}
