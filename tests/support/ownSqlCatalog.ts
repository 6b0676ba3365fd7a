import { DatabaseSync } from "node:sqlite";
import { readSqlCatalog } from "../../clients/sqlCatalog.ts";
import { sampleCatalog } from "../../tools/fixtures/sample.ts";

/** A copy of the sample's SqlCatalog that a test may change as its owner would. */
export class OwnSqlCatalog {
  readonly uri: string;
  readonly #file: string;

  private constructor(file: string) {
    this.#file = file;
    this.uri = `sqlite:///${file}`;
  }

  static async at(file: string): Promise<OwnSqlCatalog> {
    await sampleCatalog(file);
    return new OwnSqlCatalog(file);
  }

  /** From table, as in `main.default.t000`, to its metadata file. */
  async pointers(): Promise<Record<string, string>> {
    return (await readSqlCatalog({ uri: this.uri })).tables;
  }

  /** Points a table, new or known, at a metadata file; without one the table leaves the catalog. */
  point(table: string, location: string | undefined): void {
    const dot = table.lastIndexOf(".");
    const key = [table.slice(0, dot), table.slice(dot + 1)];
    using database = new DatabaseSync(this.#file);
    database.prepare("DELETE FROM iceberg_tables WHERE table_namespace = ? AND table_name = ?").run(...key);
    if (location === undefined) return;
    database
      .prepare(
        "INSERT INTO iceberg_tables (catalog_name, table_namespace, table_name, metadata_location, iceberg_type) " +
          "VALUES ('lakehouse', ?, ?, ?, 'TABLE')",
      )
      .run(...key, location);
  }
}
