import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Json } from "../../../emulators/lakekeeper/http/json.ts";
import { startLakekeeper } from "../../../emulators/lakekeeper/server.ts";
import { startOpenFga } from "../../../emulators/openfga/server.ts";
import { type Client, clientOf, warehouseRequest } from "./client.ts";
import { schema } from "./tableWorld.ts";
import { startWorld, type World } from "./world.ts";

const presharedKey = "a preshared key";
export const defaultProject = "00000000-0000-0000-0000-000000000000";

/** A catalog that asks an OpenFGA, and that `operator` has bootstrapped as operator. */
export interface OpenFgaWorld {
  readonly world: World;
  readonly operator: Client;
  /** The calls of `oidc~<subject>`, who may do nothing yet. */
  as(subject: string): Promise<Client>;
  /** Makes the operator assign; `path` is below `/management/v1/permissions`. */
  assign(path: string, subject: string, ...relations: string[]): Promise<void>;
  /** A warehouse with the namespaces `ns` and `ns.sub`, and the table `t` in both. */
  makeWarehouse(name: string): Promise<Warehouse>;
  close(): Promise<void>;
}

export interface Warehouse {
  readonly id: string;
  readonly name: string;
  readonly namespace: string;
  readonly table: string;
  /** Path in the catalog. */
  readonly path: string;
}

export function created(reply: { status: number; body: Json }): Record<string, string> {
  if (reply.status > 299) throw new Error(`${reply.status} ${JSON.stringify(reply.body)}`);
  return reply.body as Record<string, string>;
}

export async function startOpenFgaWorld(): Promise<OpenFgaWorld> {
  process.env["RUST_LOG"] = "off";
  const world = await startWorld();
  const directory = await mkdtemp(join(tmpdir(), "openfga-"));
  const openFga = await startOpenFga({ directory, keys: [presharedKey] });
  const settings = {
    ...(await world.settings("permissions")),
    ...world.openId,
    LAKEKEEPER__AUTHZ_BACKEND: "openfga",
    LAKEKEEPER__OPENFGA__ENDPOINT: openFga.url,
    LAKEKEEPER__OPENFGA__API_KEY: presharedKey,
  };
  const server = await startLakekeeper(settings);
  const as = async (subject: string): Promise<Client> => {
    const authorization = `Bearer ${await world.sign(subject)}`;
    const call = clientOf(server.url);
    return (method, path, body, headers = {}) => call(method, path, body, { authorization, ...headers });
  };
  const operator = await as("operator");
  await operator("POST", "/management/v1/bootstrap", { "accept-terms-of-use": true, "is-operator": true });
  return {
    world,
    operator,
    as,
    async assign(path, subject, ...relations) {
      const writes = relations.map((type) => ({ type, user: `oidc~${subject}` }));
      created(await operator("POST", `/management/v1/permissions/${path}/assignments`, { writes }));
    },
    async makeWarehouse(name) {
      const { id = "" } = created(await operator("POST", "/management/v1/warehouse", warehouseRequest(world, name)));
      const path = `/catalog/v1/${id}`;
      const uuids: string[] = [];
      const tables: string[] = [];
      for (const namespace of [["ns"], ["ns", "sub"]]) {
        const made = await operator("POST", `${path}/namespaces`, { namespace });
        uuids.push((created(made)["properties"] as unknown as { namespace_id: string }).namespace_id);
        const table = await operator("POST", `${path}/namespaces/${namespace.join("%1F")}/tables`, {
          name: "t",
          schema,
        });
        tables.push((created(table)["metadata"] as unknown as { "table-uuid": string })["table-uuid"]);
      }
      return { id, name, path, namespace: uuids[0]!, table: tables[0]! };
    },
    async close() {
      await server.close();
      await openFga.close();
      await world.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
