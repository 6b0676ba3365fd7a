import { UserError } from "../clients/errors.ts";
import { HttpError } from "../clients/http.ts";
import { tableName, type IcebergCatalog, type LoadedTable, type TableIdentifier } from "../clients/iceberg.ts";
import type { Lakekeeper } from "../clients/lakekeeper.ts";
import { backoff, retry } from "../clients/retry.ts";
import { forEachAtOnce } from "../clients/concurrency.ts";
import { ifAnswered } from "./catalog.ts";
import { explainRegistration } from "./tables.explain.ts";
import { isInLog, standing, type Version } from "./tables.plan.ts";

/** What the catalog has for a table after a registration. */
export interface Registered {
  readonly uuid: string;
  /** Told when it is anything but what was asked for. */
  readonly remark?: string;
}

export function parseTableName(name: string): TableIdentifier {
  const levels = name.split(".");
  return { namespace: levels.slice(0, -1), name: levels.at(-1)! };
}

/**
 * Registers tables in one warehouse, so that nothing which the catalog has and others lack is lost. A table that cannot
 * be registered as wanted is a `UserError` that says why.
 */
export class Registration {
  readonly #catalog: IcebergCatalog;
  readonly #lakekeeper: Lakekeeper;
  readonly #warehouseId: string;
  /** From table to location; fetched once, when the first conflict asks for it. */
  #locations: Promise<Map<string, string>> | undefined;

  constructor(catalog: IcebergCatalog, lakekeeper: Lakekeeper, warehouseId: string) {
    this.#catalog = catalog;
    this.#lakekeeper = lakekeeper;
    this.#warehouseId = warehouseId;
  }

  /** A table that this stack has not registered before. It may be there already, by a run that was cut short. */
  async add(name: string, pointer: string): Promise<Registered> {
    const table = parseTableName(name);
    try {
      return registered(await this.#register(table, pointer, false));
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      const live = error.type === "AlreadyExistsException" ? await this.#load(table) : undefined;
      if (live !== undefined) return this.#settle(table, live, pointer, undefined);
      throw new UserError((await this.#conflict(error, table, pointer)) ?? explainRegistration(error, pointer));
    }
  }

  /**
   * A table whose wanted pointer is not the one it was registered under.
   *
   * @param previous the pointer under which this stack registered it last
   */
  async move(name: string, pointer: string, previous: string | undefined): Promise<Registered> {
    const table = parseTableName(name);
    const live = await this.#load(table);
    return live === undefined ? this.add(name, pointer) : this.#settle(table, live, pointer, previous);
  }

  /** Takes a table out of the catalog and gives a remark when that is not all there is to say. Files stay. */
  async remove(name: string, previous: string | undefined, uuid: string | undefined): Promise<string | undefined> {
    const table = parseTableName(name);
    const live = await this.#load(table);
    if (live === undefined) return undefined;
    const pointer = live["metadata-location"];
    if (uuid !== undefined && live.metadata["table-uuid"] !== uuid) {
      return `left in the catalog: it is another table now (${live.metadata["table-uuid"]}, not ${uuid})`;
    }
    try {
      await this.#catalog.unregisterTable(table);
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      if (error.type !== "NoSuchTableException") throw new UserError(explainRegistration(error, pointer));
    }
    if (pointer === previous) return undefined;
    return `unregistered; the catalog had moved on to ${pointer}, which is the pointer to register to have it back`;
  }

  /** Moves a table that is there, if that loses nothing. */
  async #settle(
    table: TableIdentifier,
    live: LoadedTable,
    pointer: string,
    previous: string | undefined,
  ): Promise<Registered> {
    const now: Version = { pointer: live["metadata-location"], metadata: live.metadata };
    const uuid = live.metadata["table-uuid"];
    if (now.pointer === pointer) return { uuid };
    if (isInLog(now.metadata, pointer)) return this.#ahead(now, pointer, previous);
    // Still as this stack left it, so today's catalog is the only one that has moved.
    if (now.pointer === previous) return this.#overwrite(table, pointer);

    // Loaded on first use: it brings an S3 client, which hardly any run needs.
    const { readVersion } = await import("./tables.evidence.ts");
    const wanted = await readVersion(this.#catalog, table, pointer).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      throw new UserError(
        `the catalog has it at ${now.pointer}, and whether ${pointer} is newer cannot be told: ${reason}. ${KEPT}`,
      );
    });
    switch (standing(wanted, now)) {
      case "same":
        return { uuid };
      case "newer":
        return this.#overwrite(table, pointer);
      case "older":
        return this.#ahead(now, pointer, previous);
      case "forked":
        throw new UserError(
          `the catalog has it at ${now.pointer}, and neither that nor ${pointer} goes back to the other: both sides have been committing to it. ${KEPT}`,
        );
      case "another table":
        throw new UserError(
          `the catalog has another table of this name (${uuid}, at ${now.pointer}) than ${pointer} (${wanted.metadata["table-uuid"]}). ${KEPT}`,
        );
    }
  }

  /** The catalog has later metadata, which is never taken back. */
  #ahead(now: Version, pointer: string, previous: string | undefined): Registered {
    if (now.pointer === previous) {
      throw new UserError(
        `${pointer} is older than ${now.pointer}, under which it is registered; going back would lose commits. Give the current pointer`,
      );
    }
    return {
      uuid: now.metadata["table-uuid"],
      remark: `left at ${now.pointer}: the catalog has moved on from ${pointer} by itself`,
    };
  }

  async #overwrite(table: TableIdentifier, pointer: string): Promise<Registered> {
    try {
      return registered(await this.#register(table, pointer, true));
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      throw new UserError((await this.#conflict(error, table, pointer)) ?? explainRegistration(error, pointer));
    }
  }

  async #register(table: TableIdentifier, pointer: string, overwrite: boolean): Promise<LoadedTable> {
    return retry(
      () => this.#catalog.registerTable(table, pointer, overwrite),
      (error, attempt) => {
        // Lakekeeper mints credentials for each answer; Cloudflare refuses them for a while beyond its limit of calls.
        const isMinting = error instanceof HttpError && error.type === "ShortTermCredentialError";
        return isMinting && attempt <= 3 ? backoff(attempt, { first: 2_000, most: 20_000 }) : undefined;
      },
    );
  }

  #load(table: TableIdentifier): Promise<LoadedTable | undefined> {
    return this.#catalog.loadTable(table, "client-managed");
  }

  /**
   * What stands in the way of a table. Lakekeeper gives one text for a taken name and for a table that it has under
   * another name, so the other one is looked for.
   */
  async #conflict(error: HttpError, table: TableIdentifier, pointer: string): Promise<string | undefined> {
    if (error.type !== "AlreadyExistsException") return undefined;
    const dropped = (await ifAnswered(this.#lakekeeper.deletedTabulars(this.#warehouseId), [])).find(
      (tabular) => tableName(tabular).toLowerCase() === tableName(table).toLowerCase(),
    );
    if (dropped !== undefined) {
      return `it was dropped, and the warehouse's delete profile keeps it until ${dropped["expiration-date"]}. Undrop it in Lakekeeper, or register it after that`;
    }
    const other = await this.#tableAt(pointer);
    return other === undefined
      ? `its name is taken by what is no table, or the catalog has the same table (by the table-uuid in ${pointer}) under another name. ${KEPT}`
      : `the catalog has the same table as ${other}. Unregister that one (purgeRequested=false keeps the files), or leave this one out`;
  }

  /** The table in whose location a metadata file lies. */
  async #tableAt(pointer: string): Promise<string | undefined> {
    this.#locations ??= this.#allLocations();
    return [...(await this.#locations)].find(([, location]) =>
      pointer.startsWith(`${location.replace(/\/$/, "")}/`),
    )?.[0];
  }

  async #allLocations(): Promise<Map<string, string>> {
    const locations = new Map<string, string>();
    for (const namespace of await this.#catalog.descendants()) {
      await forEachAtOnce(await this.#catalog.tables(namespace), 8, async (table) => {
        const loaded = await this.#load(table);
        if (loaded !== undefined) locations.set(tableName(table), loaded.metadata.location);
      });
    }
    return locations;
  }
}

const KEPT =
  "Nothing was changed. If the wanted pointer is right after all, unregister the table in Lakekeeper (purgeRequested=false keeps the files) and run this again";

function registered(loaded: LoadedTable): Registered {
  return { uuid: loaded.metadata["table-uuid"] };
}
