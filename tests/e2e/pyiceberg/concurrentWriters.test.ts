import { keyOf, type Lakehouse, startLakehouse, type Vending } from "./lakehouse.ts";
import type { Snapshot } from "./session.ts";
import { expectWholeAppends, schema, type Work, write, type Written } from "./writers.ts";

// Several processes append to one table at the same time, while another one reads.

let lakehouse: Lakehouse;

beforeAll(async () => {
  lakehouse = await startLakehouse();
});
afterAll(() => lakehouse.close());

describe.each<Vending>(["1", "0"])("with LAKEHOUSE_REST_VENDING=%s", (vending) => {
  test("nothing is lost, nothing is there twice, and a reader sees whole commits only", async () => {
    const work: Work = { table: `main.default.shared_${vending}`, writers: 4, appends: 3, rows: 5 };
    const { table } = work;
    const commits = work.writers * work.appends;
    const reader = await lakehouse.client(vending);
    await reader.do("create", { table, schema, properties: { "commit.retry.min-wait-ms": "20" } });

    let writing = true;
    const written = write(work, await lakehouse.environment(vending)).finally(() => (writing = false));
    const seen: Written[][] = [];
    while (writing) seen.push(await reader.do<Written[]>("rows", { table }));
    const { conflicts, refusals, interruptions } = await written;
    expect(conflicts).toBeGreaterThan(0);
    expect(interruptions).toBe(0);

    for (const rows of seen) expectWholeAppends(rows, work.rows);
    const counts = seen.map((rows) => rows.length);
    expect(counts).toEqual(counts.toSorted((one, other) => one - other));
    expect(new Set(counts).size).toBeGreaterThan(2);

    const rows = await reader.do<Written[]>("rows", { table });
    expect(rows).toHaveLength(commits * work.rows);
    expectWholeAppends(rows, work.rows);

    const history = await reader.do<Snapshot[]>("history", { table });
    expect(history.map(({ summary }) => Number(summary["total-records"]))).toEqual(
      Array.from({ length: commits }, (_, index) => (index + 1) * work.rows),
    );

    // Each version of the metadata is there once; of appends that PyIceberg gave up it leaves the data files.
    const metadata = await reader.do<{ location: string; "metadata-log": { "metadata-file": string }[] }>("metadata", {
      table,
    });
    const versions = metadata["metadata-log"].map((entry) => entry["metadata-file"]);
    versions.push(await reader.do<string>("metadata_location", { table }));
    expect(versions).toHaveLength(commits + 1);
    const files = await lakehouse.files(`${metadata.location}/`);
    expect(files.filter((key) => key.endsWith(".metadata.json"))).toEqual(versions.map(keyOf).toSorted());
    expect(files.filter((key) => key.endsWith(".parquet"))).toHaveLength(commits + refusals);
  }, 600_000);
});
