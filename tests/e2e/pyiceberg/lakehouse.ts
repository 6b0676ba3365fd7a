import { join } from "node:path";
import { S3Client } from "../../../clients/s3.ts";
import { startLakekeeper } from "../../../emulators/lakekeeper/server.ts";
import { pythonWithPackages } from "../../../tools/python.ts";
import { clientOf, warehouseRequest } from "../../contract/lakekeeper/client.ts";
import { startWorld, type World } from "../../contract/lakekeeper/world.ts";
import { Session } from "./session.ts";

export const bucketName = "lakehouse";

/** `LAKEHOUSE_REST_VENDING`: whether the S3 keys come from the catalog (1) or are the client's own (0). */
export type Vending = "0" | "1";

/** The stand-ins, which demand tokens, with the warehouse `lakehouse` and its namespaces `main` and `main.default`. */
export interface Lakehouse {
  readonly world: World;
  /** Settings with which a further server on the same database can be started. */
  readonly settings: Record<string, string>;
  /** Base URL of the catalog, `/catalog` included. */
  readonly catalogUri: string;
  readonly warehouseId: string;
  /** What is in the bucket, seen with the account's own key. */
  readonly bucket: S3Client;
  /** Keys of all objects below a prefix or an s3:// location. */
  files(below: string): Promise<string[]>;
  /** The variables that the ml-runner has, and nothing more. */
  environment(vending: Vending, token?: string): Promise<Record<string, string>>;
  /** A process of PyIceberg, with further variables perhaps. It is ended with the lakehouse. */
  client(vending?: Vending, token?: string, variables?: Record<string, string>): Promise<Session>;
  /** A process of DuckDB, to which the catalog is attached as `lakehouse`. Ended with the lakehouse. */
  duckdb(token?: string): Promise<Session>;
  close(): Promise<void>;
}

export async function startLakehouse(): Promise<Lakehouse> {
  process.env["RUST_LOG"] = "off";
  const [world, python] = await Promise.all([startWorld(), pythonWithPackages()]);
  const settings = { ...(await world.settings("lakehouse")), ...world.openId };
  const server = await startLakekeeper(settings);

  const call = clientOf(server.url);
  const headers = { authorization: `Bearer ${await world.sign("operator")}` };
  const post = async (path: string, body: Parameters<typeof call>[2]): Promise<unknown> => {
    const answer = await call("POST", path, body, headers);
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  await post("/management/v1/bootstrap", { "accept-terms-of-use": true });
  const warehouse = await post("/management/v1/warehouse", warehouseRequest(world, "lakehouse"));
  const warehouseId = (warehouse as { id: string }).id;
  for (const namespace of [["main"], ["main", "default"]])
    await post(`/catalog/v1/${warehouseId}/namespaces`, { namespace });

  const { accessKeyId, secretAccessKey } = world;
  const bucket = new S3Client({ endpoint: world.r2.url, region: "auto", accessKeyId, secretAccessKey });
  const clients: Session[] = [];
  const environment: Lakehouse["environment"] = async (vending, token) => ({
    LAKEHOUSE_CATALOG_TYPE: "rest",
    LAKEHOUSE_REST_URI: `${server.url}/catalog`,
    LAKEHOUSE_REST_WAREHOUSE: "lakehouse",
    LAKEHOUSE_CATALOG_TOKEN: token ?? (await world.sign("ml-runner")),
    LAKEHOUSE_REST_VENDING: vending,
    ...(vending === "0" && { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey }),
  });
  const start = (script: string, variables: Record<string, string>): Session => {
    const client = new Session(python, join(process.cwd(), "tests/e2e/python", script), variables);
    clients.push(client);
    return client;
  };
  return {
    world,
    settings,
    catalogUri: `${server.url}/catalog`,
    warehouseId,
    bucket,
    async files(below) {
      const { objects } = await bucket.list(bucketName, keyOf(below));
      return objects.map(({ key }) => key);
    },
    environment,
    async client(vending = "1", token, variables = {}) {
      return start("session.py", { ...(await environment(vending, token)), ...variables });
    },
    async duckdb(token) {
      return start("duckdb_session.py", await environment("1", token));
    },
    async close() {
      await Promise.all(clients.map((client) => client.end()));
      await server.close();
      await world.close();
    },
  };
}

/** The key of an object in the bucket, of which PyIceberg tells the s3:// location. */
export function keyOf(location: string): string {
  return location.replace(`s3://${bucketName}/`, "");
}
