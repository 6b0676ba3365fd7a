import { loadTables, makeTables, residentMegabytes } from "../../tests/contract/lakekeeper/manyTables.ts";
import { serveProcess } from "../../tests/contract/lakekeeper/serveProcess.ts";
import { startTableWorld } from "../../tests/contract/lakekeeper/tableWorld.ts";
import { type Measured, seconds } from "./measure.ts";

const count = 10_000;
const leastPerSecond = 500;
const mostGrowth = 15;

/** Lakekeeper's stand-in, on a Postgres and an R2 emulator that nothing else uses. */
export const emulators = {
  name: "emulators",
  target: `at least ${leastPerSecond} loads a second, and memory that grows by less than ${mostGrowth} MB once each of ${count} tables was loaded`,
  async run(): Promise<Measured> {
    const tables = await startTableWorld();
    const server = await serveProcess(tables.settings);
    try {
      await makeTables(tables, count);
      await server.start();
      const load = (loads: number): Promise<number> =>
        seconds(() => loadTables(server.url, tables, { loads, tables: count }));
      // The first load of each table mints its credentials, too.
      const first = await load(count);
      const atFirst = await residentMegabytes(server.pid());
      const again = await load(2 * count);
      const atLast = await residentMegabytes(server.pid());
      const perSecond = (2 * count) / again;
      return {
        seen: `${Math.round(perSecond)} loads a second (${Math.round(count / first)} while credentials are minted), ${Math.round(atFirst)} MB after ${count} loads and ${Math.round(atLast)} MB after ${3 * count}`,
        kept: perSecond >= leastPerSecond && atLast - atFirst < mostGrowth,
      };
    } finally {
      await server.end("SIGTERM");
      await tables.close();
    }
  },
};
