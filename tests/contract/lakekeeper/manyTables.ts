import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import pg from "pg";
import { Pool } from "undici";
import { inDefault, type TableWorld } from "./tableWorld.ts";

function nameOf(index: number): string {
  return `t${String(index).padStart(5, "0")}`;
}

/**
 * Makes tables `t00000`, `t00001`, ...: one through the API, of which the others are copies made in the database. Through
 * the API 10,000 would take minutes. What is loaded is the same: a load reads nothing but the row.
 */
export async function makeTables(tables: TableWorld, count: number): Promise<void> {
  const { status } = await tables.create(nameOf(0));
  if (status !== 200) throw new Error(`Creating a table was answered with ${status}.`);
  const client = new pg.Client({ connectionString: tables.settings["LAKEKEEPER__PG_DATABASE_URL_WRITE"] });
  await client.connect();
  try {
    await client.query(
      `INSERT INTO lakekeeper.tabular
         (warehouse_id, tabular_id, namespace_id, kind, name, location, metadata_location, metadata)
       SELECT warehouse_id, id, namespace_id, kind, 't' || lpad(serial::text, 5, '0'),
         replace(location, tabular_id::text, id::text), replace(metadata_location, tabular_id::text, id::text),
         replace(metadata, tabular_id::text, id::text)
       FROM lakekeeper.tabular, (SELECT serial, gen_random_uuid() AS id FROM generate_series(1, $2) AS serial) AS copy
       WHERE name = $1`,
      [nameOf(0), count - 1],
    );
    await client.query("ANALYZE lakekeeper.tabular");
  } finally {
    await client.end();
  }
}

const connections = 8;

/**
 * Loads tables in turn, over a few connections at once.
 *
 * @throws unless every load is answered with the table
 */
export async function loadTables(
  url: string,
  { catalog }: TableWorld,
  { loads, tables }: { loads: number; tables: number },
): Promise<void> {
  const pool = new Pool(url, { connections });
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < loads) {
      const name = nameOf(next++ % tables);
      const { statusCode, body } = await pool.request({
        method: "GET",
        path: `${catalog}/${inDefault}/tables/${name}`,
      });
      const text = await body.text();
      if (statusCode !== 200 || !text.includes("s3.session-token"))
        throw new Error(`Loading ${name} was answered with ${statusCode}: ${text}`);
    }
  };
  try {
    await Promise.all(Array.from({ length: connections }, worker));
  } finally {
    await pool.close();
  }
}

/** Memory that a process holds, in MB. */
export async function residentMegabytes(pid: number): Promise<number> {
  if (process.platform !== "linux") {
    const { stdout } = await promisify(execFile)("ps", ["-o", "rss=", "-p", String(pid)]);
    return Number(stdout) / 1_024;
  }
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s*(\d+) kB/m.exec(status)![1]) / 1_024;
}
