import { UserError } from "../clients/errors.ts";
import { HttpError, type HttpClient } from "../clients/http.ts";
import { IcebergCatalog, tableName } from "../clients/iceberg.ts";
import { Lakekeeper } from "../clients/lakekeeper.ts";
import { waitFor, type Look } from "../clients/retry.ts";
import { ifAnswered, named } from "./catalog.ts";

const DEADLINE_SECONDS = 600;

/** Deletes a warehouse, never by force: what others have put into it, and what protects it, stays. */
export async function removeWarehouse(http: HttpClient, id: string, name: string): Promise<void> {
  const lakekeeper = new Lakekeeper(http);
  await waitFor(
    async () => {
      try {
        await lakekeeper.deleteWarehouse(id);
        return { value: true };
      } catch (error) {
        if (!(error instanceof HttpError)) throw error;
        return afterRefusal(http, id, name, error);
      }
    },
    {
      what: `warehouse "${name}" to be deleted`,
      deadlineSeconds: DEADLINE_SECONDS,
      remedy: "Look at Lakekeeper's log; running the command again continues from here.",
    },
  );
}

async function afterRefusal(http: HttpClient, id: string, name: string, error: HttpError): Promise<Look<boolean>> {
  const lakekeeper = new Lakekeeper(http);
  switch (error.type) {
    case "NoSuchWarehouseException": {
      const there = (await lakekeeper.warehouses()).find((warehouse) => warehouse["warehouse-id"] === id);
      if (there === undefined) return { value: true };
      if (there.status === "inactive") await lakekeeper.activateWarehouse(id);
      return { waiting: "Lakekeeper answers from a state in which it was inactive" };
    }
    case "WarehouseHasUnfinishedTasks":
      return { waiting: await unfinished(lakekeeper, id, name) };
    case "WarehouseProtected":
      throw new UserError(
        `Warehouse "${name}" (${id}) is protected in Lakekeeper, so it was not deleted. ` +
          "If it is to go, run `pulumi up` with protected: false first.",
      );
    case "WarehouseNotEmpty":
      throw new UserError(
        `Warehouse "${name}" (${id}) was not deleted, because it is not empty${await ifAnswered(contents(http, id), "")}. ` +
          "What this stack made in it is gone already, so these are somebody else's. Have them removed first (for tables with purgeRequested=false, which keeps the files), " +
          "or leave the warehouse in Lakekeeper and take it out of the state (`pulumi state delete <its URN>`).",
      );
    default:
      throw error;
  }
}

/** Which tasks are unfinished. Tables that a soft delete profile keeps beyond any patience are an error. */
async function unfinished(lakekeeper: Lakekeeper, id: string, name: string): Promise<string> {
  const kept = await ifAnswered(lakekeeper.deletedTabulars(id), []);
  const last = kept
    .map((tabular) => tabular["expiration-date"])
    .sort()
    .at(-1);
  if (last !== undefined && Date.parse(last) > Date.now() + DEADLINE_SECONDS * 1_000) {
    throw new UserError(
      `Warehouse "${name}" (${id}) cannot be deleted before ${last}: its delete profile keeps ${named(kept.map(tableName))} until then. ` +
        "Try again after that, or undrop them and drop them for good.",
    );
  }
  const tasks = await ifAnswered(lakekeeper.unfinishedTasks(id), []);
  if (tasks.length === 0) return "it has unfinished tasks";
  return `it has unfinished tasks: ${named(tasks.map((task) => `${task["queue-name"]} (${task.status.toLowerCase()})`))}`;
}

async function contents(http: HttpClient, id: string): Promise<string> {
  const catalog = new IcebergCatalog(http, id);
  const namespaces = await catalog.descendants();
  const tables = (await Promise.all(namespaces.map((namespace) => catalog.tables(namespace)))).flat();
  const inNamespaces = `namespaces ${named(namespaces.map((namespace) => namespace.join(".")))}`;
  return tables.length === 0 ? `: ${inNamespaces}` : `: tables ${named(tables.map(tableName))} in ${inNamespaces}`;
}
