import { HttpError } from "../../clients/http.ts";
import { tableName, type IcebergCatalog, type TableIdentifier } from "../../clients/iceberg.ts";
import { loadSmokeTable, type SmokeTable } from "./catalog.ts";
import type { Seen } from "./report.ts";

/** 403 for who may not write, 409 for who may. */
async function tryToCommit(catalog: IcebergCatalog, table: TableIdentifier): Promise<HttpError> {
  try {
    await catalog.commitInVain(table);
  } catch (error) {
    if (error instanceof HttpError && [403, 409].includes(error.status)) return error;
    throw error;
  }
  throw new Error(`a commit on a condition that does not hold was taken for ${tableName(table)}`);
}

const REMEDY = "run `pulumi up --refresh`, which sees what was granted or taken by hand";

export async function checkMayWrite(catalog: IcebergCatalog, { identifier }: SmokeTable): Promise<Seen<true>> {
  const { status, type } = await tryToCommit(catalog, identifier);
  const name = tableName(identifier);
  if (status === 409) return { seen: `allowed to commit to ${name} (a commit that cannot be made: 409)`, found: true };
  throw new Error(`the ml-runner is not allowed to commit to ${name} (${status} ${type}): ${REMEDY}`);
}

export async function checkOnlyReads(catalog: IcebergCatalog, table: TableIdentifier): Promise<Seen<true>> {
  await loadSmokeTable(catalog, table, "client-managed");
  const { status, type } = await tryToCommit(catalog, table);
  const name = tableName(table);
  if (status === 403) return { seen: `loads ${name}; a commit is refused: 403 ${type}`, found: true };
  throw new Error(
    `Karma is allowed to commit to ${name}: take away what lets it, such as \`modify\`, \`ownership\` or a role of the server`,
  );
}
