import { loadTables, makeTables, residentMegabytes } from "./manyTables.ts";
import { serveProcess } from "./serveProcess.ts";
import { startTableWorld, type TableWorld } from "./tableWorld.ts";

let tables: TableWorld;
beforeAll(async () => {
  tables = await startTableWorld();
});
afterAll(() => tables.close());

const loads = 3_000;

// `make bench ONLY=emulators` loads all 10,000, and looks at the speed, which would say little beside other tests.
test("with 10,000 tables in the catalog, loads leave nothing behind: after three times as many it holds no more", async () => {
  await makeTables(tables, 10_000);
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
