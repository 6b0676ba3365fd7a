import { z } from "zod";
import { HttpClient, HttpError, type HttpAnswer, type HttpClientOptions } from "./http.ts";
import { accessToken, type Connection } from "./token.ts";

// Only what is used is described; answers may carry more. Shapes as seen with Lakekeeper 0.13.3.

const serverInfo = z.object({
  version: z.string(),
  bootstrapped: z.boolean(),
  "server-id": z.string(),
  /** `allow-all` or `openfga`. */
  "authz-backend": z.string(),
});
export type ServerInfo = z.infer<typeof serverInfo>;

const storageProfile = z.looseObject({
  type: z.string(),
  bucket: z.string().optional(),
  "key-prefix": z.string().nullish(),
  region: z.string().optional(),
  endpoint: z.string().nullish(),
  "path-style-access": z.boolean().nullish(),
  "sts-token-validity-seconds": z.number().nullish(),
  "remote-signing-enabled": z.boolean().nullish(),
  "remote-signing-url-style": z.string().nullish(),
  "allow-alternative-protocols": z.boolean().nullish(),
  "push-s3-delete-disabled": z.boolean().nullish(),
});
export type WireStorageProfile = z.infer<typeof storageProfile>;

const deleteProfile = z.discriminatedUnion("type", [
  z.object({ type: z.literal("hard") }),
  z.object({ type: z.literal("soft"), "expiration-seconds": z.number() }),
]);
export type WireDeleteProfile = z.infer<typeof deleteProfile>;

const warehouse = z.object({
  "warehouse-id": z.string(),
  name: z.string(),
  status: z.enum(["active", "inactive"]),
  protected: z.boolean(),
  "storage-profile": storageProfile,
  "storage-credential-type": z.looseObject({ "credential-type": z.string().optional() }).nullish(),
  "delete-profile": deleteProfile,
});
export type WireWarehouse = z.infer<typeof warehouse>;

const task = z.looseObject({ "queue-name": z.string(), status: z.string() });
export type WarehouseTask = z.infer<typeof task>;

const deletedTabular = z.object({
  id: z.string(),
  name: z.string(),
  namespace: z.array(z.string()),
  "expiration-date": z.string(),
});
export type DeletedTabular = z.infer<typeof deletedTabular>;

/** Somebody's relation to an object: `{ type: "select", user: "oidc~karma" }`. A role has one too, in place of a user. */
const assignment = z.object({ type: z.string(), user: z.string().optional() });
const assignments = z.object({ assignments: z.array(assignment) });

export interface Assignment {
  readonly type: string;
  readonly user: string;
}

const WAREHOUSES = "/management/v1/warehouse";

/** Opens an HTTP client on the catalog for the time of `work`. */
export async function withCatalog<T>(
  connection: Connection,
  work: (http: HttpClient) => Promise<T>,
  options: Pick<HttpClientOptions, "connections" | "attempts"> = {},
): Promise<T> {
  const http = new HttpClient({
    service: "Lakekeeper",
    baseUrl: connection.uri,
    ...options,
    remedy,
    authorization: async () => {
      const token = await accessToken(connection.identity);
      return token === undefined ? undefined : `Bearer ${token}`;
    },
  });
  try {
    return await work(http);
  } finally {
    await http.close();
  }
}

function remedy({ status, type }: HttpError): string | undefined {
  // The token is good: so Lakekeeper refuses who may not grant.
  if (status === 401 && type === "Unauthorized") {
    return "The identity of the deployer may not grant this: make it operator of the server in Lakekeeper.";
  }
  if (type === "ObjectHasRelations") {
    return "OpenFGA's store holds the permissions of another catalog, and this server now counts as bootstrapped without its project. Take the stack away (`down`), leave lakekeeper:authz.storeName out or name a new one, and run `up`.";
  }
  if (status === 401) {
    return `Lakekeeper does not take this token: compare its issuer and audience (lakekeeper:auth.audience) with LAKEKEEPER__OPENID_PROVIDER_URI and LAKEKEEPER__OPENID_AUDIENCE, see that the issuer publishes the signing key, and that the clock here, which says ${new Date().toISOString()}, is right: tokens are dated by it.`;
  }
  if (status === 403) return "The identity of the deployer may not do this: give it the right in Lakekeeper.";
  if (type === "SecretFetchError") {
    return "Lakekeeper cannot decrypt the storage credential: its LAKEKEEPER__PG_ENCRYPTION_KEY is not the one the credential was stored under. Put the old key back, or store the credential again.";
  }
  if (type === "CatalogBackendError") {
    return "Lakekeeper cannot use its database: see that Postgres runs (Lakekeeper's log has the reason), then run the command again.";
  }
  if (type === "ProjectNotFound") return "Bootstrap the server first.";
  return undefined;
}

/** Lakekeeper's management API. Failures are `HttpError` or `Unreachable`. */
export class Lakekeeper {
  readonly #http: HttpClient;

  constructor(http: HttpClient) {
    this.#http = http;
  }

  async info(): Promise<ServerInfo> {
    return serverInfo.parse((await this.#http.request({ method: "GET", path: "/management/v1/info" })).json);
  }

  /**
   * A second call answers 400 `CatalogAlreadyBootstrapped`, or `ConcurrentBootstrap` when another one has just won.
   *
   * @param asOperator under OpenFGA: the caller may do everything from then on, and not only administer.
   */
  async bootstrap(asOperator = false): Promise<void> {
    const body = { "accept-terms-of-use": true, ...(asOperator && { "is-operator": true }) };
    await this.#http.request({ method: "POST", path: "/management/v1/bootstrap", body, repeatable: true });
  }

  /** All warehouses of the default project, active and inactive. */
  async warehouses(): Promise<WireWarehouse[]> {
    const path = `${WAREHOUSES}?warehouseStatus[]=active&warehouseStatus[]=inactive`;
    const answer = await this.#http.request({ method: "GET", path });
    return z.object({ warehouses: z.array(warehouse) }).parse(answer.json).warehouses;
  }

  /** Undefined when the server answers that it has none by this id; right after a state change that may be stale. */
  async warehouse(id: string): Promise<WireWarehouse | undefined> {
    try {
      return warehouse.parse((await this.#http.request({ method: "GET", path: `${WAREHOUSES}/${id}` })).json);
    } catch (error) {
      if (isNoSuchWarehouse(error)) return undefined;
      throw error;
    }
  }

  async createWarehouse(body: object): Promise<WireWarehouse> {
    return warehouse.parse((await this.#http.request({ method: "POST", path: WAREHOUSES, body })).json);
  }

  async renameWarehouse(id: string, name: string): Promise<void> {
    await this.#change(id, "rename", { "new-name": name });
  }

  async activateWarehouse(id: string): Promise<void> {
    await this.#change(id, "activate", {});
  }

  async deactivateWarehouse(id: string): Promise<void> {
    await this.#change(id, "deactivate", {});
  }

  /** Lakekeeper removes the stored credential when none is sent, so both always go together. */
  async updateStorage(id: string, profile: object, credential: object): Promise<void> {
    await this.#change(id, "storage", { "storage-profile": profile, "storage-credential": credential });
  }

  async updateStorageCredential(id: string, credential: object): Promise<void> {
    await this.#change(id, "storage-credential", { "new-storage-credential": credential });
  }

  async updateDeleteProfile(id: string, profile: WireDeleteProfile): Promise<void> {
    await this.#change(id, "delete-profile", { "delete-profile": profile });
  }

  async setProtection(id: string, isProtected: boolean): Promise<void> {
    await this.#change(id, "protection", { protected: isProtected });
  }

  /** Never forced: Lakekeeper refuses while anything is in it, while tasks are unfinished, and when it is protected. */
  async deleteWarehouse(id: string): Promise<void> {
    await this.#http.request({ method: "DELETE", path: `${WAREHOUSES}/${id}` });
  }

  async unfinishedTasks(id: string): Promise<WarehouseTask[]> {
    const body = { status: ["RUNNING", "SCHEDULED", "STOPPING"] };
    const path = `${WAREHOUSES}/${id}/task/list`;
    const answer = await this.#http.request({ method: "POST", path, body, repeatable: true });
    return z.object({ tasks: z.array(task) }).parse(answer.json).tasks;
  }

  /** Dropped tables that a soft delete profile still keeps (the first page of them). */
  async deletedTabulars(id: string): Promise<DeletedTabular[]> {
    const answer = await this.#http.request({ method: "GET", path: `${WAREHOUSES}/${id}/deleted-tabulars` });
    return z.object({ tabulars: z.array(deletedTabular) }).parse(answer.json).tabulars;
  }

  /** Who has `admin` or `operator` on the server; only with OpenFGA. 403 for who may not see that. */
  async serverAssignments(): Promise<Assignment[]> {
    return this.#assignments("/management/v1/permissions/server/assignments");
  }

  /** 403 `ActionForbidden` also when there is no such warehouse. */
  async warehouseAssignments(id: string): Promise<Assignment[]> {
    return this.#assignments(`/management/v1/permissions/warehouse/${id}/assignments`);
  }

  /** All or nothing: 409 `TupleAlreadyExistsError` for one that is there, 404 `TupleNotFoundError` for one that is not. */
  async changeWarehouseAssignments(id: string, writes: Assignment[], deletes: Assignment[]): Promise<void> {
    const path = `/management/v1/permissions/warehouse/${id}/assignments`;
    await this.#http.request({ method: "POST", path, body: { writes, deletes }, repeatable: true });
  }

  /** Those of users. */
  async #assignments(path: string): Promise<Assignment[]> {
    const answer = await this.#http.request({ method: "GET", path });
    const found = assignments.parse(answer.json).assignments;
    return found.flatMap(({ type, user }) => (user === undefined ? [] : [{ type, user }]));
  }

  /** Every change of a warehouse names the state it is to have, so all of them may be repeated. */
  async #change(id: string, what: string, body: object): Promise<HttpAnswer> {
    return this.#http.request({ method: "POST", path: `${WAREHOUSES}/${id}/${what}`, body, repeatable: true });
  }
}

/** True for the 404 that also follows a change of state for up to a minute: look into the list before believing it. */
export function isNoSuchWarehouse(error: unknown): boolean {
  return error instanceof HttpError && error.status === 404 && error.type === "NoSuchWarehouseException";
}
