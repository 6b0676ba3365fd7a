import { CatalogError } from "../http/errors.ts";
import { isObject, type Json, type JsonObject, stringifyJson } from "../http/json.ts";
import { canonicalMetadata, canonicalSchema, type Metadata, objects } from "./metadata.ts";
import { highestFieldId, sameSchema, sortKeys } from "./schema.ts";

export type Id = number | bigint;

const mainBranch = "main";

/** What the last update of a kind added, for updates that refer to it as -1. */
interface LastAdded {
  schema?: number;
  spec?: number;
  order?: number;
}

export function invalid(message: string): CatalogError {
  return new CatalogError(400, "DataInvalid", `DataInvalid => ${message}`);
}

/**
 * Table metadata under change. Methods follow the updates of the Iceberg REST specification; all of them throw 400
 * DataInvalid for an update that contradicts the metadata.
 */
export class MetadataBuilder {
  private readonly data: JsonObject;
  private readonly lastAdded: LastAdded = {};
  private readonly addedSnapshots = new Set<Id>();
  private readonly passedSnapshots = new Set<Id>();
  private removedSnapshots = false;
  private updatedAt: number | undefined;

  private constructor(data: JsonObject) {
    this.data = data;
  }

  static from(metadata: Metadata): MetadataBuilder {
    return new MetadataBuilder(structuredClone(metadata));
  }

  /** For a table that does not exist yet. */
  static empty(tableId: string, location: string): MetadataBuilder {
    return new MetadataBuilder({
      "format-version": 2,
      "table-uuid": tableId,
      location,
      "last-sequence-number": 0,
      "last-column-id": 0,
      schemas: [],
      "partition-specs": [],
      "last-partition-id": 999,
      "sort-orders": [],
      properties: {},
    });
  }

  private list(key: string): JsonObject[] {
    return objects(this.data[key]);
  }

  private map(key: string): JsonObject {
    const value = this.data[key];
    return isObject(value) ? value : {};
  }

  private integer(key: string): number {
    return Number(this.data[key] ?? 0);
  }

  get isVersion1(): boolean {
    return this.data["format-version"] === 1;
  }

  assignUuid(id: string): void {
    this.data["table-uuid"] = id;
  }

  upgradeFormatVersion(version: number): void {
    if (version < this.integer("format-version"))
      throw invalid(`Cannot downgrade FormatVersion from v${this.integer("format-version")} to v${version}`);
    if (version > 3) throw invalid(`Unsupported format version: ${version}`);
    this.data["format-version"] = version;
    if (version > 1) this.data["last-sequence-number"] ??= 0;
    if (version > 2) this.data["next-row-id"] ??= 0;
  }

  /** Only for a table that is being created. */
  makeVersion1(): void {
    this.data["format-version"] = 1;
  }

  setLocation(location: string): void {
    this.data["location"] = location.replace(/\/+$/, "");
  }

  setProperties(updates: Record<string, string>): void {
    this.data["properties"] = { ...this.map("properties"), ...updates };
  }

  removeProperties(names: readonly string[]): void {
    this.data["properties"] = Object.fromEntries(
      Object.entries(this.map("properties")).filter(([name]) => !names.includes(name)),
    );
  }

  /** Adds `item` under a number of its own, or finds the equal one that is there already. */
  private addNumbered(
    key: string,
    idKey: string,
    item: JsonObject,
    same: (other: JsonObject) => boolean,
    first = 0,
  ): number {
    const existing = this.list(key);
    const equal = existing.find(same);
    if (equal !== undefined) return Number(equal[idKey]);
    const id = Math.max(first - 1, ...existing.map((other) => Number(other[idKey]))) + 1;
    this.data[key] = [...existing, { ...item, [idKey]: id }];
    return id;
  }

  private chosen(id: number, lastAdded: number | undefined, what: string): number {
    if (id !== -1) return id;
    if (lastAdded === undefined) throw invalid(`Cannot set ${what} to last added, because no ${what} has been added.`);
    return lastAdded;
  }

  private requireListed(key: string, idKey: string, id: number, what: string): void {
    if (!this.list(key).some((item) => item[idKey] === id)) throw invalid(`Cannot set ${what} to unknown id: '${id}'`);
  }

  addSchema(schema: JsonObject): void {
    const canonical = canonicalSchema(schema);
    this.lastAdded.schema = this.addNumbered("schemas", "schema-id", canonical, (other) =>
      sameSchema(other, canonical),
    );
    this.data["last-column-id"] = Math.max(this.integer("last-column-id"), highestFieldId(canonical));
  }

  setCurrentSchema(id: number): void {
    const chosen = this.chosen(id, this.lastAdded.schema, "current schema");
    this.requireListed("schemas", "schema-id", chosen, "current schema");
    this.data["current-schema-id"] = chosen;
    this.data["schema"] = this.list("schemas").find((schema) => schema["schema-id"] === chosen)!;
  }

  removeSchemas(ids: readonly Id[]): void {
    if (ids.includes(this.integer("current-schema-id"))) throw invalid("Cannot remove current schema");
    this.data["schemas"] = this.list("schemas").filter((schema) => !ids.includes(schema["schema-id"] as Id));
  }

  addSpec(spec: JsonObject): void {
    let last = this.integer("last-partition-id");
    const known = this.list("partition-specs").flatMap((other) => objects(other["fields"]));
    const fields = objects(spec["fields"]).map((field): JsonObject => {
      const alike = known.find(
        (other) => other["source-id"] === field["source-id"] && other["transform"] === field["transform"],
      );
      const id = Number(field["field-id"] ?? alike?.["field-id"] ?? last + 1);
      last = Math.max(last, id);
      return { "source-id": field["source-id"]!, "field-id": id, name: field["name"]!, transform: field["transform"]! };
    });
    const text = stringifyJson(sortKeys(fields));
    const same = (other: JsonObject): boolean => stringifyJson(sortKeys(other["fields"] ?? [])) === text;
    this.lastAdded.spec = this.addNumbered("partition-specs", "spec-id", { "spec-id": 0, fields }, same);
    this.data["last-partition-id"] = last;
  }

  setDefaultSpec(id: number): void {
    const chosen = this.chosen(id, this.lastAdded.spec, "default spec");
    this.requireListed("partition-specs", "spec-id", chosen, "default spec");
    this.data["default-spec-id"] = chosen;
    this.data["partition-spec"] = this.list("partition-specs").find((spec) => spec["spec-id"] === chosen)!["fields"]!;
  }

  removeSpecs(ids: readonly Id[]): void {
    if (ids.includes(this.integer("default-spec-id"))) throw invalid("Cannot remove default partition spec");
    this.data["partition-specs"] = this.list("partition-specs").filter((spec) => !ids.includes(spec["spec-id"] as Id));
  }

  addSortOrder(order: JsonObject): void {
    const fields = objects(order["fields"]);
    const text = stringifyJson(sortKeys(fields));
    const same = (other: JsonObject): boolean => stringifyJson(sortKeys(other["fields"] ?? [])) === text;
    // 0 is the number of the order that does not sort.
    const first = fields.length === 0 ? 0 : 1;
    this.lastAdded.order = this.addNumbered("sort-orders", "order-id", { "order-id": first, fields }, same, first);
  }

  setDefaultSortOrder(id: number): void {
    const chosen = this.chosen(id, this.lastAdded.order, "default sort order");
    this.requireListed("sort-orders", "order-id", chosen, "default sort order");
    this.data["default-sort-order-id"] = chosen;
  }

  addSnapshot(snapshot: JsonObject): void {
    const id = snapshot["snapshot-id"] as Id;
    if (this.list("snapshots").some((other) => other["snapshot-id"] === id))
      throw invalid(`Snapshot already exists for: '${id}'`);
    const sequence = Number(snapshot["sequence-number"] ?? 0);
    if (!this.isVersion1 && snapshot["parent-snapshot-id"] != null && sequence <= this.integer("last-sequence-number"))
      throw invalid(
        `Cannot add snapshot with sequence number ${sequence} older than last sequence number ${this.integer("last-sequence-number")}`,
      );
    if (this.data["format-version"] === 3)
      this.data["next-row-id"] = this.integer("next-row-id") + Number(snapshot["added-rows"] ?? 0);
    const kept = Object.entries(snapshot).filter(([key]) => !this.isVersion1 || key !== "sequence-number");
    this.data["snapshots"] = [...this.list("snapshots"), Object.fromEntries(kept)];
    if (!this.isVersion1) this.data["last-sequence-number"] = sequence;
    this.addedSnapshots.add(id);
    this.updatedAt = Number(snapshot["timestamp-ms"]);
  }

  setRef(name: string, ref: JsonObject): void {
    const id = ref["snapshot-id"] as Id;
    const snapshot = this.list("snapshots").find((other) => other["snapshot-id"] === id);
    if (snapshot === undefined) throw invalid(`Cannot set '${name}' to unknown snapshot: '${id}'`);
    if (stringifyJson(sortKeys(this.map("refs")[name] ?? null)) === stringifyJson(sortKeys(ref))) return;
    this.data["refs"] = { ...this.map("refs"), [name]: ref };
    if (name !== mainBranch) return;
    const previous = this.data["current-snapshot-id"] as Id | undefined;
    if (previous !== undefined && this.addedSnapshots.has(previous)) this.passedSnapshots.add(previous);
    this.data["current-snapshot-id"] = id;
    const at = this.addedSnapshots.has(id) ? Number(snapshot["timestamp-ms"]) : Date.now();
    this.updatedAt = at;
    this.data["snapshot-log"] = [...this.list("snapshot-log"), { "snapshot-id": id, "timestamp-ms": at }];
  }

  removeRef(name: string): void {
    this.data["refs"] = Object.fromEntries(Object.entries(this.map("refs")).filter(([other]) => other !== name));
    if (name !== mainBranch) return;
    delete this.data["current-snapshot-id"];
    this.data["snapshot-log"] = [];
  }

  /** Removes snapshots, and the branches and tags that point to them. */
  removeSnapshots(ids: readonly Id[]): void {
    this.data["snapshots"] = this.list("snapshots").filter((snapshot) => !ids.includes(snapshot["snapshot-id"] as Id));
    for (const [name, ref] of Object.entries(this.map("refs")))
      if (isObject(ref) && ids.includes(ref["snapshot-id"] as Id)) this.removeRef(name);
    for (const key of ["statistics", "partition-statistics"]) this.removeOf(key, ids);
    this.removedSnapshots = true;
  }

  /** Statistics belong to a snapshot each: new ones take the place of the old. */
  setStatistics(key: "statistics" | "partition-statistics", statistics: JsonObject): void {
    this.removeOf(key, [statistics["snapshot-id"] as Id]);
    this.data[key] = [...this.list(key), statistics];
  }

  removeOf(key: string, snapshotIds: readonly Id[]): void {
    this.data[key] = this.list(key).filter((item) => !snapshotIds.includes(item["snapshot-id"] as Id));
  }

  addEncryptionKey(key: JsonObject): void {
    this.data["encryption-keys"] = [...this.list("encryption-keys"), key];
  }

  removeEncryptionKey(id: string): void {
    this.data["encryption-keys"] = this.list("encryption-keys").filter((key) => key["key-id"] !== id);
  }

  /** Snapshots that were current only in the middle of this commit leave no trace; a gap makes older history worthless. */
  private snapshotLog(): Json {
    const present = new Set(this.list("snapshots").map((snapshot) => snapshot["snapshot-id"] as Id));
    const current = this.data["current-snapshot-id"];
    let log: JsonObject[] = [];
    for (const entry of this.list("snapshot-log")) {
      const id = entry["snapshot-id"] as Id;
      if (this.passedSnapshots.has(id) && id !== current) continue;
      if (present.has(id)) log.push(entry);
      else if (this.removedSnapshots) log = [];
    }
    return log;
  }

  /** The finished metadata; `previous` is the file it takes the place of. Also returns log entries that fell off the end. */
  build(previous?: { location: string; timestamp: Json }): { metadata: Metadata; expired: readonly string[] } {
    const log = this.list("metadata-log");
    if (previous !== undefined) log.push({ "metadata-file": previous.location, "timestamp-ms": previous.timestamp });
    const properties = this.map("properties");
    const kept = Math.max(1, Number(properties["write.metadata.previous-versions-max"] ?? 100));
    const expired = log.slice(0, Math.max(0, log.length - kept)).map((entry) => entry["metadata-file"] as string);
    const metadata = canonicalMetadata({
      ...this.data,
      "last-updated-ms": this.updatedAt ?? Date.now(),
      "snapshot-log": this.snapshotLog(),
      "metadata-log": log.slice(-kept),
    });
    return { metadata, expired: properties["write.metadata.delete-after-commit.enabled"] === "true" ? expired : [] };
  }
}
