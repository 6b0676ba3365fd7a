import pg from "pg";
import { startTestPostgres } from "../../support/postgres.ts";

test("a database of its own role can be used, and is gone after stop", async () => {
  const postgres = await startTestPostgres();
  const url = await postgres.createDatabase("catalog");
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query("SELECT current_user AS role, current_setting('fsync') AS fsync");
  await client.end();
  await postgres.stop();

  expect(rows).toEqual([{ role: "catalog", fsync: "off" }]);
  await expect(new pg.Client(url).connect()).rejects.toThrow("ECONNREFUSED");
});
