import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readSqlCatalog } from "../../clients/sqlCatalog.ts";
import {
  inspectMetadata,
  type TableMetadata,
  validateMetadata,
  validatePointers,
} from "../../clients/tablePreflight.ts";
import {
  SAMPLE_BUCKET,
  SAMPLE_CATALOG,
  sampleCatalog,
  sampleObjects,
  sampleRows,
} from "../../tools/fixtures/sample.ts";

const WAREHOUSE = `s3://${SAMPLE_BUCKET}/warehouse`;

let folder: string;
let tables: Record<string, string>;
let bodies: Map<string, Uint8Array>;
let metadata: Record<string, TableMetadata>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "sample-"));
  const destination = join(folder, "catalog.db");
  await sampleCatalog(destination);
  ({ tables } = await readSqlCatalog({ uri: `sqlite:///${destination}`, catalogName: SAMPLE_CATALOG }));
  bodies = new Map(sampleObjects().map(({ key, body }) => [`s3://${SAMPLE_BUCKET}/${key}`, body]));
  metadata = Object.fromEntries(
    Object.entries(tables).map(([table, location]) => [table, inspectMetadata(location, bodies.get(location)!)]),
  );
});

afterAll(() => rmSync(folder, { recursive: true }));

test("the catalog has 84 tables, half in each namespace", () => {
  const namespaces = Object.keys(tables).map((table) => table.slice(0, table.lastIndexOf(".")));
  expect(namespaces.filter((namespace) => namespace === "main.default")).toHaveLength(42);
  expect(namespaces.filter((namespace) => namespace === "main.test")).toHaveLength(42);
});

test("the archive unpacks to every object, each once and none of them empty", () => {
  expect(sampleObjects()).toHaveLength(742);
  expect(bodies.size).toBe(742);
  expect([...bodies].filter(([, body]) => body.length === 0)).toEqual([]);
  const parquet = [...bodies].filter(([key]) => key.endsWith(".parquet"));
  expect(parquet.filter(([, body]) => new TextDecoder().decode(body.slice(-4)) !== "PAR1")).toEqual([]);
});

test("Lakekeeper would take every table: pointers and metadata pass the preflight", () => {
  expect(validatePointers(tables, WAREHOUSE)).toEqual([]);
  expect(validateMetadata(metadata, WAREHOUSE)).toEqual([]);
});

test("each table lies where SqlCatalog puts it, with its metadata inside", () => {
  for (const [table, location] of Object.entries(tables)) {
    const [, namespace, name] = /^(.+)\.(\w+)$/.exec(table)!;
    expect(metadata[table]!.location).toBe(`${WAREHOUSE}/${namespace}/${name}`);
    expect(location).toMatch(
      new RegExp(`^${metadata[table]!.location}/metadata/\\d{5}-[0-9a-f-]{36}(\\.gz)?\\.metadata\\.json$`),
    );
  }
});

test("it has what real lakehouses have: both formats, gzip, ids beyond 2^53, tables never written to", () => {
  const all = Object.values(metadata);
  expect(all.filter(({ formatVersion }) => formatVersion === 1)).toHaveLength(5);
  expect(all.filter(({ formatVersion }) => formatVersion === 2)).toHaveLength(79);
  expect(Object.values(tables).filter((location) => location.endsWith(".gz.metadata.json"))).toHaveLength(5);
  expect(all.filter(({ currentSnapshotId }) => currentSnapshotId === undefined)).toHaveLength(5);
  expect(all.some(({ currentSnapshotId }) => currentSnapshotId! > 2n ** 53n)).toBe(true);
});

test("rows are counted for every table", () => {
  const rows = sampleRows();
  expect(Object.keys(rows).sort()).toEqual(Object.keys(tables));
  expect(Object.values(rows).reduce((sum, count) => sum + count)).toBe(599);
  expect(rows["main.default.t015"]).toBe(0);
});
