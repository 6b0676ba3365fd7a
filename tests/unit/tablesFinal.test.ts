import tables, { type TablesInputs, type TablesOutputs } from "../../providers/tables.provider.ts";

// The tables follow the SqlCatalog until Lakekeeper commits; the run that enters that phase is the last to move them.

const pointer = (table: string, version: number) => `s3://lakehouse/${table}/metadata/0000${version}.metadata.json`;

function inputs(changed: Partial<TablesInputs> = {}): TablesInputs {
  const names = Array.from({ length: 20 }, (_, index) => `main.default.t${index}`);
  return {
    connection: { uri: "http://127.0.0.1:9", identity: { kind: "none" } },
    warehouseId: "w",
    location: "s3://lakehouse",
    tables: Object.fromEntries(names.map((name) => [name, pointer(name, 1)])),
    unreadable: "",
    final: false,
    ...changed,
  };
}

const state = (made: TablesInputs, sealed: boolean): TablesOutputs => ({
  ...made,
  registered: made.tables,
  tableUuids: {},
  sealed,
});
const only = (count: number) => Object.fromEntries(Object.entries(inputs().tables).slice(0, count));
const moved = { ...inputs().tables, "main.default.t3": pointer("main.default.t3", 2) };
const GONE = "The SqlCatalog at sqlite:///own.db cannot be read: there is no such file.";

beforeEach(() => void jest.spyOn(console, "log").mockReturnValue());
afterEach(() => jest.restoreAllMocks());

test("the run that enters the last phase registers what has moved since", async () => {
  const before = state(inputs(), false);
  expect(await tables.diff("w", before, inputs({ final: true, tables: moved }))).toEqual({ changes: true });
  expect(await tables.diff("w", before, inputs({ final: true }))).toEqual({ changes: true });
  expect(console.log).toHaveBeenCalledWith("~ main.default.t3: 00001.metadata.json -> 00002.metadata.json");
});

test("and refuses to go on when the last pointers cannot be read", async () => {
  const news = inputs({ final: true, tables: {}, unreadable: GONE });
  expect((await tables.check(inputs(), news)).failures).toEqual([{ property: "", reason: GONE }]);
  // The run before this one failed in the middle: its inputs are kept, but it sealed nothing.
  expect((await tables.check(inputs({ final: true }), news)).failures).toEqual([]);
  await expect(tables.diff("w", state(inputs({ final: true }), false), news)).rejects.toThrow(GONE);
});

test("after that, neither what moves in the SqlCatalog nor its end changes a table", async () => {
  const sealed = state(inputs({ final: true }), true);
  for (const change of [{ tables: moved }, { tables: only(3) }, { tables: {}, unreadable: GONE }]) {
    const news = inputs({ final: true, ...change });
    expect((await tables.check(sealed, news)).failures).toEqual([]);
    expect(await tables.diff("w", sealed, news)).toEqual({ changes: false });
  }
});

test("and a new connection is kept without touching a table", async () => {
  const sealed = state(inputs({ final: true }), true);
  const connection = { uri: "http://127.0.0.1:10", identity: { kind: "none" as const } };
  const news = inputs({ final: true, tables: moved, connection });
  expect(await tables.diff("w", sealed, news)).toEqual({ changes: true });
  const { outs } = await tables.update("w", sealed, news);
  expect(outs).toMatchObject({ connection, tables: sealed.tables, registered: sealed.registered, sealed: true });
});

describe("most of the tables gone from the SqlCatalog", () => {
  const before = state(inputs(), false);

  test("is taken for a wrong setting, which is named with the way on", async () => {
    await expect(tables.diff("w", before, inputs({ tables: only(9) }))).rejects.toThrow(
      /^11 of 20 registered tables are not in the SqlCatalog any more.*lakekeeper:sqlCatalogName.*set lakekeeper:allowUnregister to true$/s,
    );
  });

  test("is done when it is meant", async () => {
    const news = inputs({ tables: only(9), allowUnregister: true });
    expect(await tables.diff("w", before, news)).toEqual({ changes: true });
  });

  test("half of them may go unasked", async () => {
    expect(await tables.diff("w", before, inputs({ tables: only(10) }))).toEqual({ changes: true });
  });
});
