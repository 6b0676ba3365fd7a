import { join } from "node:path";
import { pythonWithPackages } from "../../../tools/python.ts";
import { run } from "../../../tools/run.ts";

/** What tests/e2e/python/writer.py tells at its end, as a sum over several writers. */
export interface Hindrances {
  /** Commits that came second and were tried again by PyIceberg. */
  readonly conflicts: number;
  /** Appends that PyIceberg gave up because they came second too often. */
  readonly refusals: number;
  /** Calls that failed in another way. */
  readonly interruptions: number;
}

export interface Work {
  readonly table: string;
  readonly writers: number;
  /** Of each writer. */
  readonly appends: number;
  /** Of each append. */
  readonly rows: number;
}

/** Runs processes that append to one table, all at the same time. */
export async function write(work: Work, env: Record<string, string>): Promise<Hindrances> {
  const python = await pythonWithPackages();
  const script = join(process.cwd(), "tests/e2e/python/writer.py");
  const outputs = await Promise.all(
    Array.from({ length: work.writers }, (_, writer) => {
      const args = [work.table, writer, work.appends, work.rows].map(String);
      return run(python, ["-B", script, ...args], { cwd: "/", env });
    }),
  );
  const of = outputs.map((output) => JSON.parse(output) as Hindrances);
  const sum = (what: keyof Hindrances): number => of.reduce((total, one) => total + one[what], 0);
  return { conflicts: sum("conflicts"), refusals: sum("refusals"), interruptions: sum("interruptions") };
}

/** A row as tests/e2e/python/writer.py writes it. */
export interface Written {
  readonly writer: number;
  readonly append: number;
  readonly row: number;
}

export const schema = {
  type: "struct",
  fields: ["writer", "append", "row"].map((name, index) => ({ id: index + 1, name, type: "long", required: false })),
};

/** Of each writer there are the appends from the first to some other one, each with all of its rows, once. */
export function expectWholeAppends(rows: readonly Written[], rowsOfEach: number): void {
  const found = rows.map(({ writer, append, row }) => `${writer} ${append} ${row}`).toSorted();
  const expected = [...Map.groupBy(rows, ({ writer }) => writer)].flatMap(([writer, its]) => {
    const last = Math.max(...its.map(({ append }) => append));
    return Array.from({ length: (last + 1) * rowsOfEach }, (_, index) => {
      return `${writer} ${Math.floor(index / rowsOfEach)} ${index % rowsOfEach}`;
    });
  });
  expect(found).toEqual(expected.toSorted());
}
