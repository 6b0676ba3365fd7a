import type { JsonObject } from "../http/json.ts";
import { invalid, MetadataBuilder } from "./builder.ts";
import { type Metadata, objects } from "./metadata.ts";
import { reassignFieldIds } from "./schema.ts";

export interface NewTable {
  readonly id: string;
  readonly location: string;
  readonly schema: JsonObject;
  readonly partitionSpec: JsonObject | null;
  readonly sortOrder: JsonObject | null;
  readonly properties: Record<string, string>;
  /** When the properties name none. */
  readonly usualFormatVersion: number;
}

/** The first metadata of a table. Ids of fields are the catalog's to give: those of the request only link its parts. */
export function createMetadata(table: NewTable): Metadata {
  const { schema, renumbered } = reassignFieldIds(table.schema);
  const link = (fields: JsonObject[]): JsonObject[] =>
    fields.map((field) => {
      const source = renumbered.get(Number(field["source-id"]));
      if (source === undefined) throw invalid(`Cannot find source column for field id ${Number(field["source-id"])}`);
      return { ...field, "source-id": source };
    });
  const specFields = link(objects(table.partitionSpec?.["fields"])).map((field, index) => ({
    ...field,
    "field-id": 1000 + index,
  }));
  const { "format-version": named, ...properties } = table.properties;
  const version = Number(named ?? table.usualFormatVersion);
  const builder = MetadataBuilder.empty(table.id, table.location);
  if (version === 1) builder.makeVersion1();
  else builder.upgradeFormatVersion(version);
  builder.addSchema(schema);
  builder.setCurrentSchema(-1);
  builder.addSpec({ fields: specFields });
  builder.setDefaultSpec(-1);
  builder.addSortOrder({ fields: link(objects(table.sortOrder?.["fields"])) });
  builder.setDefaultSortOrder(-1);
  builder.setProperties(properties);
  return builder.build().metadata;
}
