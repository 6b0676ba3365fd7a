import { gzipSync } from "node:zlib";
import {
  inspectMetadata,
  type TableMetadata,
  validateMetadata,
  validatePointers,
} from "../../clients/tablePreflight.ts";

const WAREHOUSE = "s3://lakehouse/warehouse";
const UUID = "7eea5419-492b-442d-aad0-87580b7aa39a";
const pointer = (table: string) => `${WAREHOUSE}/main.default/${table}/metadata/00001-${UUID}.metadata.json`;

describe("pointers", () => {
  test("good ones, also with a key prefix of several levels, with a slash at the end, and a whole bucket", () => {
    const tables = { "main.default.a": pointer("a"), "a.b.c.d.e.table": pointer("b") };
    for (const warehouse of [WAREHOUSE, `${WAREHOUSE}/`, `${WAREHOUSE}/main.default`, "s3://lakehouse"])
      expect(validatePointers(tables, warehouse)).toEqual([]);
  });

  test.each([
    ["another bucket", "s3://lakehouse2/warehouse/a/metadata/1.metadata.json"],
    ["a folder whose name only begins like the warehouse's", "s3://lakehouse/warehouse2/a/metadata/1.metadata.json"],
  ])("outside the warehouse: %s", (_, location) => {
    expect(validatePointers({ "main.a": location }, WAREHOUSE)).toEqual([
      `main.a: its metadata location ${location} is not inside the warehouse ${WAREHOUSE}.`,
    ]);
  });

  test("another scheme", () => {
    const location = pointer("a").replace("s3://", "s3a://");
    expect(validatePointers({ "main.a": location }, WAREHOUSE)).toEqual([
      `main.a: its metadata location ${location} does not begin with s3://, the only scheme Lakekeeper takes here.`,
    ]);
  });

  test("another ending, and none at all", () => {
    const location = `${WAREHOUSE}/a/metadata/v1.metadata.json.gz`;
    expect(validatePointers({ "main.a": location, "main.b": "" }, WAREHOUSE)).toEqual([
      `main.a: its metadata location ${location} does not end in .metadata.json.`,
      "main.b: the catalog has no metadata location for it.",
    ]);
  });

  test("two tables with one metadata file", () => {
    expect(
      validatePointers({ "main.a": pointer("a"), "main.b": pointer("b"), "main.c": pointer("a") }, WAREHOUSE),
    ).toEqual([`main.a, main.c: one metadata file, ${pointer("a")}, is a single table to Lakekeeper.`]);
  });

  test("names that Lakekeeper does not take", () => {
    const tables = { "a.b.c.d.e.f.t": pointer("1"), t: pointer("2"), "main..t": pointer("3"), "ma+in.t": pointer("4") };
    const rule = "a table is named by its namespace and its name, joined by dots, none of them empty.";
    expect(validatePointers(tables, WAREHOUSE)).toEqual([
      "a.b.c.d.e.f.t: its namespace has 6 levels; Lakekeeper takes 5.",
      `t: ${rule}`,
      `main..t: ${rule}`,
      "ma+in.t: Lakekeeper takes no + in the name of a namespace.",
    ]);
  });

  test("names that differ only in case", () => {
    expect(validatePointers({ "main.Runs": pointer("a"), "main.runs": pointer("b") }, WAREHOUSE)).toEqual([
      "main.Runs, main.runs: the names differ only in case, which Lakekeeper does not tell apart.",
    ]);
  });

  test("every problem at once", () => {
    expect(validatePointers({ "main.a": "gs://x/y", "main.b": "" }, WAREHOUSE)).toHaveLength(3);
  });
});

function file(overrides: Record<string, unknown> = {}): Buffer {
  const metadata = { "format-version": 2, "table-uuid": UUID, location: `${WAREHOUSE}/main.default/a`, ...overrides };
  return Buffer.from(JSON.stringify(metadata));
}

describe("a metadata file", () => {
  test("its snapshot id is not rounded", () => {
    const body = Buffer.from(
      `{"format-version":1,"table-uuid":"${UUID}","location":"s3://b/a","current-snapshot-id":5832468467513096781}`,
    );
    expect(inspectMetadata(pointer("a"), body)).toEqual({
      tableUuid: UUID,
      location: "s3://b/a",
      formatVersion: 1,
      currentSnapshotId: 5832468467513096781n,
      refusedProperties: [],
    });
  });

  test.each([-1, null, undefined])("no snapshot: %s", (id) => {
    expect(inspectMetadata(pointer("a"), file({ "current-snapshot-id": id })).currentSnapshotId).toBeUndefined();
  });

  test("gzip under the name that says so", () => {
    const location = pointer("a").replace(".metadata.json", ".gz.metadata.json");
    expect(inspectMetadata(location, gzipSync(file())).tableUuid).toBe(UUID);
    expect(() => inspectMetadata(location, file())).toThrow(`${location} is not gzipped, but its name says otherwise`);
    expect(() => inspectMetadata(pointer("a"), gzipSync(file()))).toThrow(
      `${pointer("a")} is gzipped, but its name says otherwise`,
    );
    const cut = gzipSync(file()).subarray(0, 40);
    expect(() => inspectMetadata(location, cut)).toThrow(`${location} is not a metadata file: unexpected end of file`);
  });

  test.each([
    ["empty", Buffer.alloc(0), "is not a metadata file: Unexpected end of JSON input"],
    ["not JSON", Buffer.from("<xml/>"), "is not a metadata file: Unexpected token"],
    ["not UTF-8", Buffer.from([0x22, 0xff, 0x22]), "is not a metadata file: The encoded data was not valid"],
    ["no table", Buffer.from("{}"), "is not Iceberg table metadata"],
    ["no uuid", file({ "table-uuid": undefined }), "table-uuid"],
    ["of a future format", file({ "format-version": 4 }), "format-version"],
  ])("refused: %s", (_, body, message) => {
    expect(() => inspectMetadata(pointer("a"), body)).toThrow(`${pointer("a")} is not`);
    expect(() => inspectMetadata(pointer("a"), body)).toThrow(message);
  });

  test("properties that move files are named, the ones that do not are let through", () => {
    const properties = {
      "write.data.path": "s3://other/data",
      "write.metadata.path": "s3://other/metadata",
      "write.metadata.previous-versions-max": "5",
      "write.metadata.delete-after-commit.enabled": "true",
      "write.metadata.compression-codec": "gzip",
      "write.metadata.metrics.default": "full",
      "write.parquet.compression-codec": "zstd",
    };
    expect(inspectMetadata(pointer("a"), file({ properties })).refusedProperties).toEqual([
      "write.data.path=s3://other/data",
      "write.metadata.path=s3://other/metadata",
    ]);
  });
});

describe("metadata of several tables", () => {
  const table = (location: string, tableUuid: string, refusedProperties: string[] = []): TableMetadata => ({
    tableUuid,
    location: `${WAREHOUSE}${location}`,
    formatVersion: 2,
    currentSnapshotId: undefined,
    refusedProperties,
  });

  test("two tables side by side", () => {
    const tables = {
      "main.a": table("/main/a", "1"),
      "main.ab": table("/main/ab", "2"),
      "main.b": table("/main/a-b", "3"),
    };
    expect(validateMetadata(tables, WAREHOUSE)).toEqual([]);
  });

  test("two tables with one uuid", () => {
    expect(validateMetadata({ "main.a": table("/a", "1"), "main.b": table("/b", "1") }, WAREHOUSE)).toEqual([
      "main.a, main.b: one table-uuid, 1, is a single table to Lakekeeper.",
    ]);
  });

  test("a table inside another, beside one whose name begins alike", () => {
    const tables = { "main.in": table("/a/x/y", "1"), "main.out": table("/a/", "2"), "main.mid": table("/a-b", "3") };
    expect(validateMetadata(tables, WAREHOUSE)).toEqual([
      `main.in: its location ${WAREHOUSE}/a/x/y lies inside that of main.out.`,
    ]);
  });

  test("a table at the warehouse's own location, and one outside", () => {
    const outside = { ...table("", "2"), location: "s3://other/a" };
    expect(validateMetadata({ "main.a": table("/", "1"), "main.b": outside }, WAREHOUSE)).toEqual([
      `main.a: its location ${WAREHOUSE}/ is not inside ${WAREHOUSE}.`,
      `main.b: its location s3://other/a is not inside ${WAREHOUSE}.`,
    ]);
  });

  test("a property that moves files", () => {
    expect(validateMetadata({ "main.a": table("/a", "1", ["write.data.path=s3://o"]) }, WAREHOUSE)).toEqual([
      "main.a: Lakekeeper does not take a table with write.data.path=s3://o. Rewrite the table without it.",
    ]);
  });
});
