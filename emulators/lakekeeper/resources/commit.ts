import type pg from "pg";
import { tabularObject } from "../authz/authorizer.ts";
import { type Answer, type Call, noContent, ok, type Route } from "../http/call.ts";
import { CatalogError } from "../http/errors.ts";
import { type Json, parseJson, stringifyJson } from "../http/json.ts";
import { list, maybe, type Shaped, string, struct } from "../http/shape.ts";
import { MetadataBuilder } from "../iceberg/builder.ts";
import type { Metadata } from "../iceberg/metadata.ts";
import { metadataFileName, nextVersion, writeMetadataFile } from "../iceberg/metadataFile.ts";
import { checkRequirement, tableRequirement } from "../iceberg/requirements.ts";
import { applyUpdate, tableUpdate } from "../iceberg/updates.ts";
import { uuid7 } from "../ids.ts";
import { log } from "../log.ts";
import type { S3Client } from "../storage/s3.ts";
import { longLivedKeys, s3Client } from "../storage/vending.ts";
import { getNamespace, namespaceKey } from "../store/namespaces.ts";
import { findTabular, insertTabular, noSuchTabular, setTabularMetadata, type Tabular } from "../store/tabulars.ts";
import type { Warehouse } from "../store/warehouses.ts";
import { entityTag } from "./access.ts";
import { newTableLocation } from "./create.ts";
import { change, once } from "./once.ts";
import { permitOnNamespace, permitOnTabular } from "./permit.ts";
import { requireFormatVersion, requireInside, requireSupported } from "./rules.ts";
import { splitNamespace, warehouseOf } from "./scope.ts";
import { committedBefore, loadResult } from "./tables.ts";

const identifier = struct("TableIdent", { namespace: list(string), name: string });
const commitRequest = struct("CommitTableRequest", {
  identifier: maybe(identifier),
  requirements: list(tableRequirement),
  updates: list(tableUpdate),
});
type CommitRequest = Shaped<typeof commitRequest>;

interface Target {
  readonly namespace: readonly string[];
  readonly name: string;
}

interface Committed {
  readonly metadataLocation: string;
  readonly metadata: string;
  /** Metadata files that the table's properties say to delete now. */
  readonly expired: readonly string[];
}

/** Where commits of one request go. */
interface Session {
  readonly call: Call;
  readonly client: pg.PoolClient;
  readonly warehouse: Warehouse;
  readonly storage: S3Client;
}

function apply(builder: MetadataBuilder, request: CommitRequest, warehouse: Warehouse): void {
  for (const update of request.updates) {
    if (update.action === "set-location") requireInside(update.location.replace(/\/+$/, ""), warehouse.profile);
    if (update.action === "set-properties") requireSupported(update.updates);
    if (update.action === "upgrade-format-version") requireFormatVersion(update["format-version"], warehouse);
    applyUpdate(builder, update);
  }
}

async function write(
  session: Session,
  version: number,
  metadata: Metadata,
): Promise<{ metadataLocation: string; metadata: string }> {
  const metadataLocation = `${metadata.location}/metadata/${metadataFileName(version, metadata)}`;
  await writeMetadataFile(session.storage, metadataLocation, metadata);
  return { metadataLocation, metadata: stringifyJson(metadata) };
}

/** The first commit of a staged table. */
async function commitNew(session: Session, target: Target, request: CommitRequest): Promise<Committed> {
  const { call, client, warehouse } = session;
  const namespace = await getNamespace(client, warehouse.id, target.namespace);
  await permitOnNamespace(call, warehouse.id, namespace, "can_create_table");
  const id = uuid7();
  const builder = MetadataBuilder.empty(id, newTableLocation(warehouse, namespace, id));
  apply(builder, request, warehouse);
  const { metadata } = builder.build();
  const written = await write(session, 0, metadata);
  await insertTabular(client, {
    warehouseId: warehouse.id,
    id: metadata["table-uuid"],
    namespaceId: namespace.id,
    kind: "table",
    name: target.name,
    location: metadata.location,
    ...written,
  });
  const object = tabularObject("table", warehouse.id, metadata["table-uuid"]);
  await call.catalog.authorizer?.createdTabular(call.identity, object, namespace.id);
  return { ...written, expired: [] };
}

async function commitExisting(session: Session, table: Tabular, request: CommitRequest): Promise<Committed> {
  const { id, name } = table;
  await permitOnTabular(session.call, { kind: "table", warehouseId: session.warehouse.id, id, name }, "can_commit");
  const current = parseJson(table.metadata) as Metadata;
  for (const requirement of request.requirements) checkRequirement(current, requirement);
  const builder = MetadataBuilder.from(current);
  apply(builder, request, session.warehouse);
  const timestamp: Json = current["last-updated-ms"] ?? 0;
  const { metadata, expired } = builder.build({ location: table.metadataLocation, timestamp });
  if (metadata["table-uuid"] !== current["table-uuid"])
    throw new CatalogError(400, "TableUuidChange", "The UUID of a table cannot be changed.");
  const written = await write(session, nextVersion(table.metadataLocation), metadata);
  await setTabularMetadata(session.client, session.warehouse.id, table.id, { location: metadata.location, ...written });
  return { ...written, expired };
}

/** The row stays locked from the check of the requirements to the end: of two commits one sees what the other made. */
async function commitOne(session: Session, target: Target, request: CommitRequest): Promise<Committed> {
  const { client, warehouse } = session;
  const creates = request.requirements.some((requirement) => requirement.type === "assert-create");
  const table = await findTabular(client, "table", warehouse.id, target.namespace, target.name, true);
  if (table === undefined && !creates) throw noSuchTabular("table");
  return table === undefined ? commitNew(session, target, request) : commitExisting(session, table, request);
}

async function commitAll(call: Call, changes: readonly (CommitRequest & Target)[]): Promise<Committed[]> {
  const { secrets } = call.catalog;
  const warehouse = await warehouseOf(call);
  const storage = s3Client(warehouse.profile, longLivedKeys(await secrets.read(warehouse.secretId)));
  const committed = await change(call, warehouse, async (client) => {
    const results: Committed[] = [];
    for (const each of changes) results.push(await commitOne({ call, client, warehouse, storage }, each, each));
    return results;
  });
  const expired = committed.flatMap((result) => result.expired);
  await Promise.all(expired.map((file) => storage.delete(file))).catch((error: unknown) => {
    log("WARN", "lakekeeper", "Expired metadata files could not be deleted", { details: String(error) });
  });
  return committed;
}

async function commitTable(call: Call): Promise<Answer> {
  const request = call.body(commitRequest);
  const target = { namespace: splitNamespace(call.param("namespace")), name: call.param("tabular") };
  const [committed] = await commitAll(call, [{ ...request, ...target }]);
  return ok(loadResult(committed!, null), { etag: entityTag(committed!.metadataLocation) });
}

const transactionRequest = struct("CommitTransactionRequest", { "table-changes": list(commitRequest) });

/** Several tables at once: all of the changes or none. */
async function commitTransaction(call: Call): Promise<Answer> {
  const changes = call.body(transactionRequest)["table-changes"].map((wanted) => {
    if (wanted.identifier === null)
      throw new CatalogError(
        400,
        "TableIdentifierRequiredForCommitTransaction",
        "Table identifier is required for each change in the CommitTransactionRequest",
      );
    return { ...wanted, ...wanted.identifier };
  });
  const key = ({ namespace, name }: Target): string => namespaceKey([...namespace, name]);
  if (new Set(changes.map(key)).size < changes.length)
    throw new CatalogError(
      400,
      "UniqueTableIdentifiersRequiredForCommitTransaction",
      "Table identifiers must be unique in the CommitTransactionRequest",
    );
  // In one order for everybody, so that two transactions never wait for each other.
  await commitAll(
    call,
    changes.toSorted((one, other) => (key(one) < key(other) ? -1 : 1)),
  );
  return noContent;
}

export const commitRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/catalog/v1/:prefix/namespaces/:namespace/tables/:tabular",
    handle: once(commitTable, committedBefore),
  },
  { method: "POST", path: "/catalog/v1/:prefix/transactions/commit", handle: once(commitTransaction, () => noContent) },
];
