import { z } from "zod";
import { HttpError, type HttpClient } from "./http.ts";

export type Namespace = readonly string[];

export interface TableIdentifier {
  readonly namespace: Namespace;
  readonly name: string;
}

/** `main.default.events` */
export function tableName({ namespace, name }: TableIdentifier): string {
  return [...namespace, name].join(".");
}

/** What a client asks the catalog for when it loads a table. `client-managed` costs no minting of credentials. */
export type AccessDelegation = "vended-credentials" | "remote-signing" | "client-managed";

const catalogConfig = z.object({
  defaults: z.record(z.string(), z.string()),
  overrides: z.record(z.string(), z.string()),
});
export type CatalogConfig = z.infer<typeof catalogConfig>;

const storageCredential = z.object({ prefix: z.string(), config: z.record(z.string(), z.string()) });
export type StorageCredential = z.infer<typeof storageCredential>;

const tableMetadata = z.looseObject({
  "table-uuid": z.string(),
  location: z.string(),
  "last-updated-ms": z.number(),
  "metadata-log": z.array(z.looseObject({ "metadata-file": z.string(), "timestamp-ms": z.number() })).optional(),
});
/** The metadata document as it is; integers beyond 2^53 are bigints. */
export type TableMetadata = z.infer<typeof tableMetadata>;

const loadedTable = z.object({
  "metadata-location": z.string(),
  metadata: tableMetadata,
  config: z.record(z.string(), z.string()).nullish(),
  "storage-credentials": z.array(storageCredential).nullish(),
});
export type LoadedTable = z.infer<typeof loadedTable>;

const namespaceAnswer = z.object({ properties: z.record(z.string(), z.string()).default({}) });

const page = z.object({ "next-page-token": z.string().nullish() });

/** Checks that a document is table metadata, and types it. */
export function asTableMetadata(document: unknown): TableMetadata {
  return tableMetadata.parse(document);
}

/** GET /v1/config. `defaults.prefix` is the warehouse id; `overrides.uri` is how the server sees its own address. */
export async function getConfig(http: HttpClient, warehouse: string): Promise<CatalogConfig> {
  const path = `/catalog/v1/config?warehouse=${encodeURIComponent(warehouse)}`;
  return catalogConfig.parse((await http.request({ method: "GET", path })).json);
}

/** The Iceberg REST API of one warehouse. Failures are `HttpError` or `Unreachable`. */
export class IcebergCatalog {
  readonly #http: HttpClient;
  readonly #base: string;

  /** @param prefix of all paths; with Lakekeeper that is the warehouse id. */
  constructor(http: HttpClient, prefix: string) {
    this.#http = http;
    this.#base = `/catalog/v1/${prefix}`;
  }

  /** The direct children of a namespace, or the top level. */
  async namespaces(parent?: Namespace): Promise<string[][]> {
    const query = parent === undefined ? "" : `&parent=${encode(parent)}`;
    return this.#list(
      `${this.#base}/namespaces`,
      query,
      z.object({ namespaces: z.array(z.array(z.string())) }),
      "namespaces",
    );
  }

  /** All namespaces below one, or below the top level; each after its parent. */
  async descendants(parent?: Namespace): Promise<string[][]> {
    const children = await this.namespaces(parent);
    const below = await Promise.all(children.map((child) => this.descendants(child)));
    return children.flatMap((child, index) => [child, ...below[index]!]);
  }

  /** The namespace's properties, or undefined when there is none. */
  async namespace(namespace: Namespace): Promise<Record<string, string> | undefined> {
    const path = `${this.#base}/namespaces/${encode(namespace)}`;
    const answer = await orMissing("NoSuchNamespaceException", this.#http.request({ method: "GET", path }));
    return answer && namespaceAnswer.parse(answer.json).properties;
  }

  /** The parent must exist: 404 `NoSuchNamespaceException` otherwise. One that exists: 409 `AlreadyExistsException`. */
  async createNamespace(namespace: Namespace, properties: Record<string, string> = {}): Promise<void> {
    const body = { namespace, properties };
    await this.#http.request({ method: "POST", path: `${this.#base}/namespaces`, body, repeatable: true });
  }

  /** Only an empty one: 409 `NamespaceNotEmptyException` otherwise. */
  async dropNamespace(namespace: Namespace): Promise<void> {
    await this.#http.request({ method: "DELETE", path: `${this.#base}/namespaces/${encode(namespace)}` });
  }

  async tables(namespace: Namespace): Promise<TableIdentifier[]> {
    const path = `${this.#base}/namespaces/${encode(namespace)}/tables`;
    const identifier = z.object({ namespace: z.array(z.string()), name: z.string() });
    return this.#list(path, "", z.object({ identifiers: z.array(identifier) }), "identifiers");
  }

  /**
   * Registers existing metadata under a name. Lakekeeper reads the file, and mints credentials for the answer.
   *
   * @param overwrite points a name that is taken at this metadata; files stay.
   */
  async registerTable(table: TableIdentifier, metadataLocation: string, overwrite = false): Promise<LoadedTable> {
    const path = `${this.#base}/namespaces/${encode(table.namespace)}/register`;
    const body = { name: table.name, "metadata-location": metadataLocation, overwrite };
    // Sent twice it answers that the name is taken, which callers settle by looking at what is there.
    return loadedTable.parse((await this.#http.request({ method: "POST", path, body, repeatable: true })).json);
  }

  /** Undefined when there is no such table. */
  async loadTable(table: TableIdentifier, delegation: AccessDelegation): Promise<LoadedTable | undefined> {
    const headers = { "x-iceberg-access-delegation": delegation };
    const request = this.#http.request({ method: "GET", path: this.#tablePath(table), headers });
    const answer = await orMissing("NoSuchTableException", request);
    return answer && loadedTable.parse(answer.json);
  }

  /**
   * Commits nothing, on a condition that no table fulfils: 409 for whoever may commit, 403 for who may not, and 404 for
   * who does not even see the table. Lakekeeper looks at that first.
   */
  async commitInVain(table: TableIdentifier): Promise<void> {
    const requirements = [{ type: "assert-table-uuid", uuid: "00000000-0000-0000-0000-000000000000" }];
    // Harmless, were it taken after all.
    const updates = [{ action: "remove-properties", removals: ["lakekeeper-stack.no-such-property"] }];
    const body = { identifier: table, requirements, updates };
    await this.#http.request({ method: "POST", path: this.#tablePath(table), body });
  }

  async tableExists(table: TableIdentifier): Promise<boolean> {
    try {
      await this.#http.request({ method: "HEAD", path: this.#tablePath(table) });
      return true;
    } catch (error) {
      if (error instanceof HttpError && error.status === 404) return false;
      throw error;
    }
  }

  /** Vended credentials for a table. */
  async tableCredentials(table: TableIdentifier): Promise<StorageCredential[]> {
    const headers = { "x-iceberg-access-delegation": "vended-credentials" };
    const answer = await this.#http.request({ method: "GET", path: `${this.#tablePath(table)}/credentials`, headers });
    return z.object({ "storage-credentials": z.array(storageCredential) }).parse(answer.json)["storage-credentials"];
  }

  /** Takes a table out of the catalog; its files stay. Lakekeeper would delete them without being told not to. */
  async unregisterTable(table: TableIdentifier): Promise<void> {
    await this.#http.request({ method: "DELETE", path: `${this.#tablePath(table)}?purgeRequested=false` });
  }

  #tablePath(table: TableIdentifier): string {
    return `${this.#base}/namespaces/${encode(table.namespace)}/tables/${encodeURIComponent(table.name)}`;
  }

  /** All pages of a listing. Lakekeeper gives a token with a full last page too; the page after it is empty. */
  async #list<Key extends string, Item>(
    path: string,
    query: string,
    schema: z.ZodType<Record<Key, Item[]>>,
    key: Key,
  ): Promise<Item[]> {
    const items: Item[] = [];
    let token: string | null | undefined;
    do {
      const pageToken = token ? `&pageToken=${encodeURIComponent(token)}` : "";
      const { json } = await this.#http.request({ method: "GET", path: `${path}?pageSize=1000${query}${pageToken}` });
      const found = schema.parse(json)[key];
      items.push(...found);
      token = found.length === 0 ? undefined : page.parse(json)["next-page-token"];
    } while (token);
    return items;
  }
}

/** Levels of a namespace are joined by the unit separator in paths. */
function encode(namespace: Namespace): string {
  return namespace.map(encodeURIComponent).join("%1F");
}

async function orMissing<T>(type: string, request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof HttpError && error.status === 404 && error.type === type) return undefined;
    throw error;
  }
}
