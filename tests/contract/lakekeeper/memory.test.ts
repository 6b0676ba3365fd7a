import { loadTables, makeTables, residentMegabytes } from "./manyTables.ts";
import { serveProcess } from "./serveProcess.ts";
import { inDefault, startTableWorld, type TableWorld } from "./tableWorld.ts";

const count = 10_000;

let tables: TableWorld;
beforeAll(async () => {
  tables = await startTableWorld();
  await makeTables(tables, count);
});
afterAll(() => tables.close());

test.each([1_000, 333])("a list of 10,000 tables in pages of %d has each of them once", async (pageSize) => {
  const names: string[] = [];
  const sizes: number[] = [];
  for (let token: string | null = ""; token !== null;) {
    const query: string = `pageSize=${pageSize}&pageToken=${encodeURIComponent(token)}`;
    const { body } = await tables.call("GET", `${tables.catalog}/${inDefault}/tables?${query}`);
    const page = body as { identifiers: { name: string }[]; "next-page-token"?: string | null };
    names.push(...page.identifiers.map(({ name }) => name));
    sizes.push(page.identifiers.length);
    token = page["next-page-token"] ?? null;
  }
  expect(names).toHaveLength(count);
  expect(new Set(names).size).toBe(count);
  expect(Math.max(...sizes)).toBe(pageSize);
  expect(sizes.length).toBeLessThanOrEqual(Math.ceil(count / pageSize) + 1);
});

const loads = 3_000;

// `make bench ONLY=emulators` loads all 10,000, and looks at the speed, which would say little beside other tests.
test("with 10,000 tables in the catalog, loads leave nothing behind: after three times as many it holds no more", async () => {
  const server = await serveProcess(tables.settings);
  await server.start();
  try {
    await loadTables(server.url, tables, { loads, tables: loads });
    const once = await residentMegabytes(server.pid());
    await loadTables(server.url, tables, { loads: 2 * loads, tables: loads });
    const thrice = await residentMegabytes(server.pid());
    // In MB. One load answers with more than 2 kB: were they kept, the further ones would take 12 MB and their objects.
    expect(thrice - once).toBeLessThan(10);
    expect(thrice).toBeLessThan(150);
  } finally {
    await server.end("SIGTERM");
  }
});
