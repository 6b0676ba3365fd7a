import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readSqlCatalog } from "../../clients/sqlCatalog.ts";
import { inspectMetadata, validateMetadata, validatePointers } from "../../clients/tablePreflight.ts";
import { sampleRows } from "../../tools/fixtures/sample.ts";
import { pythonWithPackages } from "../../tools/python.ts";
import { run } from "../../tools/run.ts";

const WAREHOUSE = "s3://lakehouse/warehouse";

test("PyIceberg makes the 84 tables of the sample anew, with the same rows, and all pass the preflight", async () => {
  const folder = await mkdtemp(join(tmpdir(), "lakehouse-"));
  try {
    const out = join(folder, "out");
    const script = join(process.cwd(), "tools/fixtures/make_lakehouse.py");
    await run(await pythonWithPackages(), ["-B", script, "--out", out], { cwd: folder });

    const { tables } = await readSqlCatalog({ uri: `sqlite:///${out}/catalog.db` });
    const metadata = await Promise.all(
      Object.entries(tables).map(async ([table, location]) => {
        const body = await readFile(location.replace("s3://", `${out}/`));
        return [table, inspectMetadata(location, body)] as const;
      }),
    );
    expect(JSON.parse(await readFile(join(out, "rows.json"), "utf8"))).toEqual(sampleRows());
    expect(Object.keys(tables)).toEqual(Object.keys(sampleRows()).sort());
    expect(validatePointers(tables, WAREHOUSE)).toEqual([]);
    expect(validateMetadata(Object.fromEntries(metadata), WAREHOUSE)).toEqual([]);
  } finally {
    await rm(folder, { recursive: true });
  }
}, 600_000);
