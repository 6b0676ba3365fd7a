import { type Lakehouse, startLakehouse, type Vending } from "./lakehouse.ts";
import type { Session, Snapshot } from "./session.ts";

// Rows that are appended, replaced, deleted and upserted, in both format versions and with either kind of key.

interface Trade {
  readonly id: number;
  readonly symbol: string;
  readonly price: string | null;
  readonly day: string;
  readonly legs: readonly { readonly venue: string; readonly size: number }[];
}

const schema = {
  type: "struct",
  fields: [
    { id: 1, name: "id", type: "long", required: true },
    { id: 2, name: "symbol", type: "string", required: false },
    { id: 3, name: "price", type: "decimal(9, 2)", required: false },
    { id: 4, name: "day", type: "date", required: false },
    {
      id: 5,
      name: "legs",
      required: false,
      type: {
        type: "list",
        "element-id": 6,
        "element-required": false,
        element: {
          type: "struct",
          fields: [
            { id: 7, name: "venue", type: "string", required: false },
            { id: 8, name: "size", type: "int", required: false },
          ],
        },
      },
    },
  ],
};

function trade(id: number): Trade {
  return {
    id,
    symbol: ["ABC", "XYZ", "QQQ"][id % 3]!,
    price: id % 5 === 0 ? null : `${id}.25`,
    day: `2026-03-${String(1 + (id % 28)).padStart(2, "0")}`,
    legs: [{ venue: `v${id % 2}`, size: id * 10 }],
  };
}

const trades = (from: number, to: number): Trade[] =>
  Array.from({ length: to - from + 1 }, (_, index) => trade(from + index));

let lakehouse: Lakehouse;

beforeAll(async () => {
  lakehouse = await startLakehouse();
});
afterAll(() => lakehouse.close());

describe.each<Vending>(["1", "0"])("with LAKEHOUSE_REST_VENDING=%s", (vending) => {
  let client: Session;

  beforeAll(async () => {
    client = await lakehouse.client(vending);
  });

  describe.each([1, 2])("in a table of format version %s", (version) => {
    const table = `main.default.trades_${vending}_${version}`;
    /** The rows there should be, by id. */
    const expected = new Map<number, Trade>();
    const put = (rows: readonly Trade[]): void => rows.forEach((row) => expected.set(row.id, row));

    async function expectRows(): Promise<void> {
      const found = await client.do<Trade[]>("rows", { table });
      const byId = (one: Trade, other: Trade): number => one.id - other.id;
      expect(found.toSorted(byId)).toEqual([...expected.values()].toSorted(byId));
      const history = await client.do<Snapshot[]>("history", { table });
      expect(Number(history.at(-1)?.summary["total-records"] ?? 0)).toBe(expected.size);
    }

    beforeAll(() => client.do("create", { table, schema, properties: { "format-version": String(version) } }));

    test("appended rows are there, those of each append", async () => {
      await expectRows();
      for (const rows of [trades(1, 10), trades(11, 30)]) {
        await client.do("append", { table, rows });
        put(rows);
        await expectRows();
      }
    });

    test("deleted rows are gone, and no others", async () => {
      await client.do("delete", { table, where: "symbol = 'XYZ' and id > 20" });
      for (const { id, symbol } of expected.values()) if (symbol === "XYZ" && id > 20) expected.delete(id);
      await expectRows();
      await client.do("delete", { table, where: "price is null or day >= '2026-03-26'" });
      for (const { id, price, day } of expected.values())
        if (price === null || day >= "2026-03-26") expected.delete(id);
      await expectRows();
    });

    test("a delete that hits nothing changes nothing", async () => {
      const before = await client.do("metadata_location", { table });
      await client.do("delete", { table, where: "id = 999" });
      await expectRows();
      expect(await client.do("metadata_location", { table })).toBe(before);
    });

    test("an overwrite with a condition replaces the rows that meet it", async () => {
      const rows = [{ ...trade(6), price: "0.01" }, trade(40)];
      await client.do("overwrite", { table, rows, where: "id <= 9" });
      for (const id of expected.keys()) if (id <= 9) expected.delete(id);
      put(rows);
      await expectRows();
    });

    test("an upsert changes the rows that are there and adds the others", async () => {
      const rows = [{ ...trade(11), symbol: "NEW" }, { ...trade(40), legs: [] }, trade(50), trade(51)];
      expect(await client.do("upsert", { table, rows, by: ["id"] })).toEqual({ updated: 2, inserted: 2 });
      put(rows);
      await expectRows();
    });

    test("rows and fields can be picked", async () => {
      const found = await client.do<object[]>("rows", { table, where: "symbol = 'ABC'", fields: ["id", "price"] });
      const picked = [...expected.values()].filter(({ symbol }) => symbol === "ABC");
      expect(picked.length).toBeGreaterThan(0);
      expect(new Set(found)).toEqual(new Set(picked.map(({ id, price }) => ({ id, price }))));
    });

    test("an overwrite without a condition replaces everything", async () => {
      await client.do("overwrite", { table, rows: trades(100, 103) });
      expected.clear();
      put(trades(100, 103));
      await expectRows();
    });

    test("the history is one line from the first append on, with every snapshot in it", async () => {
      const history = await client.do<Snapshot[]>("history", { table });
      expect(history.map(({ parent }) => parent)).toEqual([null, ...history.slice(0, -1).map(({ id }) => id)]);
      expect(history[0]).toMatchObject({
        operation: "append",
        summary: { "added-records": "10", "total-records": "10" },
      });
      const all = await client.do<Snapshot[]>("snapshots", { table });
      expect(new Set(all.map(({ id }) => id))).toEqual(new Set(history.map(({ id }) => id)));
    });

    test("every file it wrote is below the table, in the bucket", async () => {
      const { location, snapshots } = await client.do<{ location: string; snapshots: { "manifest-list": string }[] }>(
        "metadata",
        { table },
      );
      const files = (await lakehouse.files(`${location}/`)).map((key) => `s3://lakehouse/${key}`);
      expect(files).toEqual(expect.arrayContaining(snapshots.map((snapshot) => snapshot["manifest-list"])));
      expect(files).toContain(await client.do("metadata_location", { table }));
    });

    test(`its keys are ${vending === "1" ? "those the catalog hands out for it" : "the client's own"}`, async () => {
      const keys = await client.do<Record<string, string>>("storage_keys", { table });
      expect("s3.session-token" in keys).toBe(vending === "1");
      expect(keys["s3.access-key-id"] === lakehouse.world.accessKeyId).toBe(vending === "0");
      expect(keys["s3.secret-access-key"] === lakehouse.world.secretAccessKey).toBe(vending === "0");
    });
  });
});
