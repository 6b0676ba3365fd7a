import { z } from "zod";
import { forEachAtOnce } from "../clients/concurrency.ts";
import { UserError } from "../clients/errors.ts";
import { Unreachable, type HttpClient } from "../clients/http.ts";
import { IcebergCatalog } from "../clients/iceberg.ts";
import { Lakekeeper, withCatalog } from "../clients/lakekeeper.ts";
import { validatePointers } from "../clients/tablePreflight.ts";
import { connectionSchema, type Connection } from "../clients/token.ts";
import { BRIEFLY, inWarehouse, readOrKeep } from "./catalog.ts";
import {
  checkFailure,
  checkInputs,
  configure,
  hasUnknown,
  isUnknown,
  PartialFailure,
  type Provider,
  type ReadResult,
} from "./provider.ts";
import { sameValue } from "./sameValue.ts";
import { describePlan, isInLog, planTables, type Pointers } from "./tables.plan.ts";
import { parseTableName, Registration, type Registered } from "./tables.registration.ts";

export interface TablesInputs {
  connection: Connection;
  warehouseId: string;
  location: string;
  tables: Pointers;
  unreadable?: string;
  final?: boolean;
  allowUnregister?: boolean;
  concurrency?: number;
}

export interface TablesOutputs extends TablesInputs {
  /** From table to the pointer the catalog has, or to an older one that it has moved on from by itself. */
  registered: Pointers;
  tableUuids: Record<string, string>;
  /** The final pointers have been registered. */
  sealed?: boolean;
}

const schema = z.object({
  connection: connectionSchema,
  warehouseId: z.string(),
  location: z.string(),
  tables: z.record(z.string(), z.string({ error: "must be the location of a metadata file" }), {
    error: "must be a map from table to metadata location",
  }),
  unreadable: z.string().optional(),
  final: z.boolean().optional(),
  allowUnregister: z.boolean().optional(),
  concurrency: z
    .int({ error: "must be a whole number" })
    .min(1, { error: "must be 1 to 32" })
    .max(32, { error: "must be 1 to 32" })
    .optional(),
});

const provider: Provider<TablesInputs, TablesOutputs> = {
  configure,

  async check(olds, news) {
    const result = checkInputs(schema, news, { secrets: ["connection"] });
    // Whether the final pointers have been registered is known to `diff`, and then nobody asks for others.
    if (news.unreadable && !(news.final && olds.final)) return { ...result, failures: [checkFailure(news.unreadable)] };
    if (result.failures.length === 0 && !hasUnknown(news.tables) && !isUnknown(news.location)) {
      result.failures.push(...validatePointers(news.tables, news.location).map(checkFailure));
    }
    return result;
  },

  async diff(_id, olds, news) {
    if (olds.warehouseId !== news.warehouseId) {
      return { changes: true, replaces: ["warehouseId"], deleteBeforeReplace: true };
    }
    const hasNewConnection = !sameValue(olds.connection, news.connection);
    if (isSealed(olds, news)) return { changes: hasNewConnection };
    if (news.unreadable) throw new UserError(news.unreadable);
    if (hasUnknown(news.tables)) return { changes: true };
    const plan = planTables(olds.registered, news.tables);
    const { length } = Object.keys(olds.registered);
    if (plan.remove.length > MOST_REMOVED && plan.remove.length * 2 > length && !news.allowUnregister) {
      throw new UserError(
        `${plan.remove.length} of ${length} registered tables are not in the SqlCatalog any more. Check that lakekeeper:sqlCatalog ` +
          "and lakekeeper:sqlCatalogName are right; if these tables are to be unregistered (their files stay), " +
          "set lakekeeper:allowUnregister to true",
      );
    }
    const lines = describePlan(plan, olds.registered, news.tables);
    if (lines.length > 0) console.log(lines.join("\n"));
    return { changes: lines.length > 0 || hasNewConnection || isFinal(olds) !== isFinal(news) };
  },

  async create(inputs) {
    return { id: inputs.warehouseId, outs: await apply(inputs, undefined) };
  },

  async read(id, props) {
    return readOrKeep(id, props, () =>
      withCatalog(
        props.connection,
        (http) =>
          inWarehouse<ReadResult<TablesOutputs>>(
            http,
            props.warehouseId,
            async () => ({ id, props: await observed(http, props) }),
            {},
          ),
        { ...BRIEFLY, connections: connectionsOf(props) },
      ),
    );
  },

  async update(_id, olds, news) {
    if (isSealed(olds, news)) return { outs: { ...olds, ...news, tables: olds.tables } };
    return { outs: await apply(news, olds) };
  },

  async delete(_id, props) {
    await withCatalog(props.connection, (http) => removeAll(http, props), { connections: connectionsOf(props) });
  },
};

export default provider;

/** Fewer than these may go without being asked about. */
const MOST_REMOVED = 5;

const isFinal = (inputs: TablesInputs) => inputs.final ?? false;

/** The catalog alone moves these tables now. */
function isSealed(olds: TablesOutputs, news: TablesInputs): boolean {
  return isFinal(news) && (olds.sealed ?? false);
}

const connectionsOf = (inputs: TablesInputs) => inputs.concurrency ?? 8;

/** Registers, moves and unregisters. What has been done is in the outputs, also of the failure that ends it. */
async function apply(inputs: TablesInputs, olds: TablesOutputs | undefined): Promise<TablesOutputs> {
  const registered: Record<string, string> = { ...olds?.registered };
  const tableUuids: Record<string, string> = { ...olds?.tableUuids };
  const plan = planTables(registered, inputs.tables);
  const limit = connectionsOf(inputs);

  const failures = await withCatalog(
    inputs.connection,
    async (http) => {
      const registration = open(http, inputs.warehouseId);
      const done =
        (name: string) =>
        ({ uuid, remark }: Registered) => {
          registered[name] = inputs.tables[name]!;
          tableUuids[name] = uuid;
          return remark;
        };
      // First what goes: it may be a table that is to come under another name.
      const removed = await eachTable(plan.remove, limit, async (name) => {
        const remark = await registration.remove(name, registered[name], tableUuids[name]);
        delete registered[name];
        delete tableUuids[name];
        return remark;
      });
      const moved = await eachTable(plan.move, limit, (name) =>
        registration.move(name, inputs.tables[name]!, olds?.tables[name]).then(done(name)),
      );
      const added = await eachTable(plan.add, limit, (name) =>
        registration.add(name, inputs.tables[name]!).then(done(name)),
      );
      return [...removed, ...moved, ...added];
    },
    { connections: limit },
  );

  if (failures.length === 0) return { ...inputs, registered, tableUuids, sealed: isFinal(inputs) };
  // The pointers last registered under, which the next run compares with: those of failed tables have not changed.
  const tables = Object.fromEntries(
    Object.keys(registered).map((name) => [
      name,
      registered[name] === inputs.tables[name] ? inputs.tables[name]! : (olds?.tables[name] ?? registered[name]!),
    ]),
  );
  throw new PartialFailure(inputs.warehouseId, { ...inputs, tables, registered, tableUuids, sealed: false }, [
    ...failures.slice(0, -1),
    // Not a reason of its own, for the engine counts reasons as errors.
    `${failures.at(-1)}\n${Object.keys(registered).length} tables are registered. Run the command again once the cause is gone: it does what is left.`,
  ]);
}

function open(http: HttpClient, warehouseId: string): Registration {
  return new Registration(new IcebergCatalog(http, warehouseId), new Lakekeeper(http), warehouseId);
}

/**
 * Works on tables side by side. One that fails does not keep the others from going on, unless the server is gone.
 *
 * @returns the reasons of those that failed
 */
async function eachTable(
  names: string[],
  limit: number,
  work: (name: string) => Promise<string | undefined>,
): Promise<string[]> {
  const failures: string[] = [];
  const remarks: string[] = [];
  let settled = 0;
  try {
    await forEachAtOnce(names, limit, async (name) => {
      try {
        const remark = await work(name);
        if (remark !== undefined) remarks.push(`${name}: ${remark}`);
      } catch (error) {
        if (error instanceof Unreachable || !(error instanceof Error)) throw error;
        failures.push(`${name}: ${error.message}`);
      }
      settled += 1;
    });
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
    failures.push(`${names.length - settled} of ${names.length} tables were not reached: ${error.message}`);
  }
  if (remarks.length > 0) console.log(remarks.join("\n"));
  return failures.sort();
}

/** The state with the pointers that the catalog has now. */
async function observed(http: HttpClient, props: TablesOutputs): Promise<TablesOutputs> {
  const catalog = new IcebergCatalog(http, props.warehouseId);
  const registered: Record<string, string> = {};
  const tableUuids: Record<string, string> = {};
  await forEachAtOnce(Object.entries(props.registered), connectionsOf(props), async ([name, pointer]) => {
    const live = await catalog.loadTable(parseTableName(name), "client-managed");
    if (live === undefined) return;
    // That the catalog has committed to a table is its life, and no drift.
    registered[name] = isInLog(live.metadata, pointer) ? pointer : live["metadata-location"];
    tableUuids[name] = live.metadata["table-uuid"];
  });
  return { ...props, registered, tableUuids };
}

async function removeAll(http: HttpClient, props: TablesOutputs): Promise<void> {
  const registration = open(http, props.warehouseId);
  const failures = await eachTable(Object.keys(props.registered), connectionsOf(props), (name) =>
    inWarehouse(
      http,
      props.warehouseId,
      () => registration.remove(name, props.registered[name], props.tableUuids[name]),
      undefined,
    ),
  );
  if (failures.length > 0) throw new UserError(`Tables that could not be unregistered:\n${failures.join("\n")}`);
}
