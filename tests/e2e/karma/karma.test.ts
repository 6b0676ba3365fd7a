import { type Lakehouse, startLakehouse } from "../pyiceberg/lakehouse.ts";
import type { Session } from "../pyiceberg/session.ts";
import { buildKarma, hasCargo, readAll } from "./karma.ts";

// A reader that is built on iceberg-rust, with the catalog's address, a token and nothing else. Building it takes minutes
// the first time.

const schema = {
  type: "struct",
  fields: [
    { id: 1, name: "id", type: "long", required: true },
    { id: 2, name: "symbol", type: "string", required: false },
    { id: 3, name: "day", type: "date", required: false },
  ],
};
const rows = [1, 2, 3, 4].map((id) => ({ id, symbol: id % 2 === 0 ? "ABC" : "XYZ", day: `2026-03-0${id}` }));

(hasCargo ? describe : describe.skip)("a reader in Rust (skipped unless there is cargo)", () => {
  let lakehouse: Lakehouse;
  let pyiceberg: Session;
  let karma: string;

  beforeAll(async () => {
    [karma, lakehouse] = await Promise.all([buildKarma(), startLakehouse()]);
    pyiceberg = await lakehouse.client();
  }, 15 * 60_000);
  afterAll(() => lakehouse.close());

  async function read(token?: string): Promise<Record<string, { id: number }[]>> {
    const tables = (await readAll(karma, await lakehouse.environment("1", token))) as Record<string, { id: number }[]>;
    const inOrder = Object.entries(tables).map(([table, found]) => [table, found.toSorted((a, b) => a.id - b.id)]);
    return Object.fromEntries(inOrder) as Record<string, { id: number }[]>;
  }

  test("reads every table of nested namespaces as PyIceberg wrote it, with keys from the catalog", async () => {
    await pyiceberg.do("create_namespace", { namespace: "main.test" });
    for (const version of ["1", "2"]) {
      const table = `main.test.plain_${version}`;
      await pyiceberg.do("create", { table, schema, properties: { "format-version": version } });
      await pyiceberg.do("append", { table, rows: rows.slice(0, 2) });
      await pyiceberg.do("append", { table, rows: rows.slice(2) });
    }
    const partition = [
      { "source-id": 2, "field-id": 1000, transform: "identity", name: "symbol" },
      { "source-id": 3, "field-id": 1001, transform: "month", name: "month" },
    ];
    await pyiceberg.do("create", { table: "main.default.partitioned", schema, partition });
    await pyiceberg.do("append", { table: "main.default.partitioned", rows });
    await pyiceberg.do("create", { table: "main.default.empty", schema });
    expect(await read()).toEqual({
      "main.test.plain_1": rows,
      "main.test.plain_2": rows,
      "main.default.partitioned": rows,
      "main.default.empty": [],
    });
  });

  test("reads a table after deletes, an upsert and changes of its fields", async () => {
    const table = "main.default.partitioned";
    await pyiceberg.do("delete", { table, where: "id = 1" });
    await pyiceberg.do("upsert", { table, rows: [{ id: 2, symbol: "NEW", day: "2026-04-01" }], by: ["id"] });
    await pyiceberg.do("add_field", { table, path: ["price"], type: "double" });
    await pyiceberg.do("rename_field", { table, path: ["day"], to: "on" });
    await pyiceberg.do("append", { table, rows: [{ id: 5, symbol: "ABC", on: "2026-03-05", price: 1.5 }] });
    expect((await read())[table]).toEqual([
      { id: 2, symbol: "NEW", on: "2026-04-01" },
      { id: 3, symbol: "XYZ", on: "2026-03-03" },
      { id: 4, symbol: "ABC", on: "2026-03-04" },
      { id: 5, symbol: "ABC", on: "2026-03-05", price: 1.5 },
    ]);
  });

  test("reads whole commits only while PyIceberg writes", async () => {
    const table = "main.default.empty";
    const seen: number[][] = [];
    let commits = 0;
    let writing = true;
    const write = async (): Promise<void> => {
      // Until the reader has been in the middle of it.
      for (; new Set(seen.map(({ length }) => length)).size < 4; commits++)
        await pyiceberg.do("append", { table, rows: rows.map((row) => ({ ...row, id: 10 * commits + row.id })) });
    };
    const written = write().finally(() => (writing = false));
    while (writing) seen.push((await read())[table]!.map(({ id }) => id));
    await written;
    const all = Array.from({ length: commits }, (_, commit) => rows.map(({ id }) => 10 * commit + id)).flat();
    for (const ids of seen) {
      expect(ids).toEqual(all.slice(0, ids.length));
      expect(ids.length % rows.length).toBe(0);
    }
    expect((await read())[table]!.map(({ id }) => id)).toEqual(all);
  });

  test("a token for somebody else is refused", async () => {
    const token = await lakehouse.world.sign("karma", { aud: "elsewhere" });
    await expect(read(token)).rejects.toThrow("AuthenticationFailed");
  });
});
