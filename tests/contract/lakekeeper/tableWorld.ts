import { randomUUID } from "node:crypto";
import { type Json, type JsonObject, stringifyJson } from "../../../emulators/lakekeeper/http/json.ts";
import { type RunningServer, startLakekeeper } from "../../../emulators/lakekeeper/server.ts";
import { bucketOf, type Client, clientOf, foreignMetadata, type Reply, warehouseRequest } from "./client.ts";
import { startWorld, type World } from "./world.ts";

export const schema = { type: "struct", "schema-id": 0, fields: [{ id: 1, name: "id", required: true, type: "long" }] };
export const inDefault = "namespaces/main%1Fdefault";

/** A bootstrapped server with a warehouse `wh` that has the namespaces `main` and `main.default`. */
export interface TableWorld {
  readonly world: World;
  /** Settings of a server on the same database. */
  readonly settings: Readonly<Record<string, string>>;
  readonly call: Client;
  /** Path of the warehouse `wh` in the catalog. */
  readonly catalog: string;
  /** Another server on the same database. */
  start(more?: Record<string, string>): Promise<Client>;
  /** A further warehouse with the same namespaces; returns its id. */
  makeWarehouse(name: string, rest?: JsonObject): Promise<string>;
  /** Puts a metadata file into the bucket and registers it. */
  register(name: string, more?: JsonObject, file?: string): Promise<Reply & { location: string }>;
  create(name: string): Promise<Reply>;
  commit(name: string, updates: Json[], requirements?: Json[]): Promise<Reply>;
  close(): Promise<void>;
}

export async function startTableWorld(): Promise<TableWorld> {
  process.env["RUST_LOG"] = "off";
  const world = await startWorld();
  const settings = await world.settings("tables");
  const servers: RunningServer[] = [];
  const start = async (more: Record<string, string> = {}): Promise<Client> => {
    const server = await startLakekeeper({ ...settings, ...more });
    servers.push(server);
    return clientOf(server.url);
  };
  const call = await start();
  await call("POST", "/management/v1/bootstrap", { "accept-terms-of-use": true });
  const makeWarehouse = async (name: string, rest: JsonObject = {}): Promise<string> => {
    const made = await call("POST", "/management/v1/warehouse", warehouseRequest(world, name, {}, rest));
    const { id } = made.body as { id: string };
    for (const namespace of [["main"], ["main", "default"]])
      await call("POST", `/catalog/v1/${id}/namespaces`, { namespace });
    return id;
  };
  const catalog = `/catalog/v1/${await makeWarehouse("wh")}`;
  return {
    world,
    settings,
    call,
    catalog,
    start,
    makeWarehouse,
    async register(name, more = {}, file = "00003-a.metadata.json") {
      const location = `s3://lakehouse/wh/tables/${name}`;
      const metadata = foreignMetadata(randomUUID(), location, more);
      await bucketOf(world).write(`${location}/metadata/${file}`, Buffer.from(stringifyJson(metadata)));
      const body = { name, "metadata-location": `${location}/metadata/${file}` };
      return { ...(await call("POST", `${catalog}/${inDefault}/register`, body)), location };
    },
    create: (name) => call("POST", `${catalog}/${inDefault}/tables`, { name, schema }),
    commit: (name, updates, requirements = []) =>
      call("POST", `${catalog}/${inDefault}/tables/${name}`, { requirements, updates }),
    async close() {
      await Promise.all(servers.map((server) => server.close()));
      await world.close();
    },
  };
}

/** One of format version 2 that names files which nobody reads. */
export function snapshot(id: bigint | number, sequence: number, parent?: bigint | number): JsonObject {
  return {
    "snapshot-id": id,
    ...(parent === undefined ? {} : { "parent-snapshot-id": parent }),
    "sequence-number": sequence,
    "timestamp-ms": 1_800_000_000_000 + sequence,
    "manifest-list": "s3://lakehouse/wh/x.avro",
    summary: { operation: "append" },
    "schema-id": 0,
  };
}

/** The updates of a commit that appends a snapshot to the main branch. */
export function append(id: bigint | number, sequence: number, parent?: bigint | number): Json[] {
  return [
    { action: "add-snapshot", snapshot: snapshot(id, sequence, parent) },
    { action: "set-snapshot-ref", "ref-name": "main", type: "branch", "snapshot-id": id },
  ];
}

/** Waits for something that happens in the background. */
export async function eventually(check: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 15_000;
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error("It did not come to that within 15 seconds.");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
