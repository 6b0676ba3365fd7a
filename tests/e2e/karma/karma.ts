import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { cacheFolder } from "../../../platforms/local/cache.ts";
import { run } from "../../../tools/run.ts";

/** Whether this machine can build programs in Rust at all. */
export const hasCargo = spawnSync("cargo", ["--version"]).status === 0;

const manifest = join(process.cwd(), "tests/e2e/karma/Cargo.toml");

/** Builds the reader, of which the packages are kept outside the checkout; returns its path. */
export async function buildKarma(): Promise<string> {
  const target = join(cacheFolder(), "karma");
  await run("cargo", ["build", "--quiet", "--locked", "--manifest-path", manifest, "--target-dir", target], {
    cwd: process.cwd(),
  });
  return join(target, "debug", "karma");
}

/**
 * Rows of every table as the reader prints them, by the table's dotted name.
 *
 * @param environment the LAKEHOUSE_ variables; of LAKEHOUSE_REST_VENDING it knows only 1
 */
export async function readAll(karma: string, environment: Record<string, string>): Promise<Record<string, unknown[]>> {
  const output = await run(karma, [], { cwd: "/", env: environment });
  const tables = output
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { table: string; rows: unknown[] });
  return Object.fromEntries(tables.map(({ table, rows }) => [table, rows]));
}
